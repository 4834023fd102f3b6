import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { transform } from "esbuild";
import { Webhook } from "standardwebhooks";

import { type Client, createClient } from "../../../client/client.ts";
import { ROOT } from "../../support/process.ts";
import { useFolder } from "../../support/use-folder.ts";
import { useService } from "../../support/use-service.ts";
import { snippetsOf } from "./support.ts";

/** What a part of a program printed in this process, and the exit code that it asked for. */
interface Printed<T> {
  result: T;
  output: string;
  exitCode: number;
}

/** Calls a function whose output is the program's: it goes into the answer instead of the test report. */
async function printedBy<T>(run: () => Promise<T>): Promise<Printed<T>> {
  const { log, error, warn } = console;
  const lines: string[] = [];
  const keep = (...values: unknown[]) => void lines.push(`${values.map(String).join(" ")}\n`);
  const before = process.exitCode;
  process.exitCode = 0;
  Object.assign(console, { log: keep, error: keep, warn: keep });
  try {
    const result = await run();
    return { result, output: lines.join(""), exitCode: process.exitCode };
  } finally {
    Object.assign(console, { log, error, warn });
    process.exitCode = before;
  }
}

const SOURCES = new Map(
  [
    ["@moneta/client", "client/entry.ts"],
    ["@moneta/client/bulk", "client/bulk-entry.ts"],
    ["@moneta/client/drop", "client/drop-entry.ts"],
    ["@moneta/client/drop-node", "client/drop-node-entry.ts"],
  ].map(([name, file]) => [`"${name!}"`, `"${pathToFileURL(join(ROOT, file!)).href}"`]),
);
const SECRET = `whsec_${Buffer.from("a secret of the webhook").toString("base64")}`;

interface Manifest {
  version: string;
  license: string;
  dependencies: Record<string, string>;
}

describe("client/package.json", () => {
  it("has the version, the licence and the dependencies of the service", async () => {
    const [own, service] = await Promise.all(
      ["client/package.json", "package.json"].map(
        async (path) => JSON.parse(await readFile(join(ROOT, path), "utf8")) as Manifest,
      ),
    );
    expect(own).to.include({ version: service!.version, license: service!.license });
    for (const [name, version] of Object.entries(own!.dependencies)) {
      expect(service!.dependencies[name], name).to.equal(version);
    }
  });
});

describe("the packages for apps", () => {
  for (const [folder, contents] of [
    ["client", ["dist"]],
    ["examples/create-moneta-app", ["create.js", "template"]],
  ] as const) {
    it(`${folder} is published with its provenance, and contains only what an app needs`, async () => {
      const manifest = JSON.parse(await readFile(join(ROOT, folder, "package.json"), "utf8")) as {
        repository: { directory: string };
        keywords: string[];
        engines: { node: string };
      };
      expect(manifest).to.deep.include({
        license: "MIT",
        type: "module",
        sideEffects: false,
        files: contents,
        publishConfig: { access: "public", provenance: true },
      });
      expect(manifest).to.include.keys("description", "exports", "homepage", "bugs");
      expect(manifest.repository.directory).to.equal(folder);
      expect(manifest.keywords).to.include("nft");
      expect(manifest.engines.node).to.match(/^>=20\./);
    });
  }
});

/** With the sources of the client. `package.long.test.ts` has the tests of the package. */
describe("the snippets of the client's README", () => {
  const fixture = useService();
  const folder = useFolder();

  /** Runs the block that contains the text. @returns what it exports */
  async function run(mark: string, page = "client/README.md"): Promise<object> {
    const block = (await snippetsOf(page, "ts")).find((text) => text.includes(mark))!;
    const source = block
      .replaceAll(/"@moneta\/client(\/[a-z-]+)?"/g, (name) => SOURCES.get(name)!)
      .replace("http://localhost:3000", fixture.baseUrl)
      .replace("moneta_...", fixture.app.token)
      .replace("process.env.MONETA_URL!", JSON.stringify(fixture.baseUrl))
      .replace("process.env.MONETA_TOKEN!", JSON.stringify(fixture.app.token))
      .replace("whsec_...", SECRET);
    const file = join(folder.path, "snippet.mjs");
    await writeFile(file, (await transform(source, { loader: "ts" })).code);
    return (await import(pathToFileURL(file).href)) as object;
  }

  it("create a wallet, a collection and a token", async () => {
    const { output } = await printedBy(() => run("waitFor"));
    expect(output).to.match(/^Alice has token 1 of 0x[0-9a-fA-F]{40}\.\n$/);
  });

  it("do the same in README.md", async () => {
    const { output } = await printedBy(() => run("waitFor", "README.md"));
    expect(output).to.match(/^Carol has token 1 of 0x[0-9a-fA-F]{40}\.\n$/);
  });

  it("mint with a batch, and name the item that is refused", async () => {
    const { mintForAll } = (await run("mintForAll")) as {
      mintForAll: (client: Client, collection: string, addresses: string[]) => Promise<string[]>;
    };
    const client = createClient({ baseUrl: fixture.baseUrl, token: fixture.app.token });
    const collection = await fixture.api.collection({ type: "ERC721", mint_supply_count: 2 });
    const to = await fixture.api.wallet();
    const { result, output } = await printedBy(() => mintForAll(client, collection, [to, to, to]));
    expect(result).to.have.length(2);
    expect(output).to.match(new RegExp(`^${to} gets no token: supply_exceeded: `));
  });

  it("mint in bulk, and continue after the store has failed", async () => {
    const { mintAll } = (await run("mintAll")) as {
      mintAll: (client: Client, name: string, items: Iterable<object>, store: object) => Promise<{ is: string }[]>;
    };
    const client = createClient({ baseUrl: fixture.baseUrl, token: fixture.app.token });
    const collection_address = await fixture.api.collection({ type: "ERC721", mint_supply_count: 2 });
    const to_address = await fixture.api.wallet();
    const items = [1, 2, 3].map(() => ({ collection_address, to_address }));
    const texts = new Map<string, string>();
    let saves = 0;
    const store = {
      load: (name: string) => Promise.resolve(texts.get(name) ?? null),
      save: (name: string, text: string) => {
        // The batch is sent then, and its answer is not stored.
        if (++saves === 2) return Promise.reject(new Error("The disk is full."));
        texts.set(name, text);
        return Promise.resolve();
      },
    };
    const failed = await mintAll(client, "readme", items, store).catch((error: unknown) => error);
    expect(failed).to.have.property("message", "The disk is full.");
    const { result, output } = await printedBy(() => mintAll(client, "readme", items, store));
    expect(result.map(({ is }) => is)).to.deep.equal(["completed", "completed", "failed"]);
    expect(output).to.match(/^Item 2 was not minted: /);
  });

  it("mint a folder, and do nothing when they are run again", async () => {
    const { mintFolder } = (await run("mintFolder")) as { mintFolder: (options: object) => Promise<{ is: string }[]> };
    const drop = await mkdtemp(join(folder.path, "drop-"));
    for (const name of ["1.svg", "2.svg"])
      await writeFile(join(drop, name), `<svg xmlns="http://www.w3.org/2000/svg"><desc>${name}</desc></svg>`);
    const options = {
      ...{ folder: drop, url: fixture.baseUrl, token: fixture.app.token, to: { user: "dora" } },
      collection: await fixture.api.collection({ type: "ERC721" }),
    };
    for (const _time of [1, 2]) {
      const { result, output } = await printedBy(() => mintFolder(options));
      expect(result.map(({ is }) => is)).to.deep.equal(["completed", "completed"]);
      expect(output).to.contain("2 tokens are minted.");
    }
    const { total } = await fixture.api.ok<{ total: number }>("GET", `/v1/collections/${options.collection}`);
    expect(total).to.equal(2);
  });

  it("accept a genuine webhook and refuse another", async () => {
    const { receive } = (await run("verifyWebhook")) as { receive: (request: Request) => Promise<Response> };
    const body = '{"id":"1","type":"sent","request_id":"2"}';
    const headers = {
      "webhook-id": "1",
      "webhook-timestamp": Math.floor(Date.now() / 1_000).toString(),
      "webhook-signature": new Webhook(SECRET).sign("1", new Date(), body),
    };
    const call = (text: string) => receive(new Request("https://app.example", { method: "POST", headers, body: text }));
    expect((await call(body)).status).to.equal(204);
    expect((await call(body.replace("sent", "error"))).status).to.equal(401);
  });
});
