import { writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { createContext, runInContext } from "node:vm";

import { expect } from "chai";
import { build, transform } from "esbuild";
import { Webhook } from "standardwebhooks";

import { type TemporaryFolder, temporaryFolder } from "../../support/folder.ts";
import { ROOT } from "../../support/process.ts";
import { useService } from "../../support/use-service.ts";
import { installClient, machineEnvironment, type ProgramEnd, runProgram, snippetsOf } from "./support.ts";

const README = "client/README.md";
const SECRET = `whsec_${Buffer.from("a secret of the webhook").toString("base64")}`;
const BROWSER_OPTIONS = { module: "esnext", moduleResolution: "bundler", lib: ["es2022", "dom"], types: [] } as const;

describe("the client as a package", () => {
  const fixture = useService();

  let folder: TemporaryFolder;
  let app: string;
  let files: string[];
  before("install the package in an empty folder", async () => {
    folder = await temporaryFolder();
    ({ app, files } = await installClient(folder.path));
  });
  after(() => folder.remove());

  /** The README block that contains the text, with the address and the token of the running service. */
  async function snippet(mark: string): Promise<string> {
    const block = (await snippetsOf(README, "ts")).find((text) => text.includes(mark));
    return block!
      .replace("http://localhost:3000", fixture.baseUrl)
      .replace("moneta_...", fixture.app.token)
      .replace("whsec_...", SECRET);
  }

  it("has the compiled files and their types, and nothing else", () => {
    const sources = files.filter((path) => !path.startsWith("dist/"));
    expect(sources).to.deep.equal(["LICENSE", "README.md", "package.json"]);
    const built = files.filter((path) => path.startsWith("dist/"));
    expect(built.every((path) => /^dist\/[a-z-]+(\.d\.ts|\.js)$/.test(path))).to.equal(true);
    expect(built).to.include.members(["dist/entry.js", "dist/entry.d.ts"]);
  });

  describe("the snippets of its README", () => {
    for (const [title, options] of [
      ["with the module resolution of Node, without the types of a browser", { module: "nodenext", types: ["node"] }],
      ["with the module resolution of a bundler, without the types of Node", BROWSER_OPTIONS],
    ] as const) {
      it(`pass \`tsc --strict\` ${title}`, async () => {
        const entries = await Promise.all(
          (await snippetsOf(README, "ts")).map(async (text, index) => {
            const file = `${options.module}-${index}.ts`;
            await writeFile(join(app, file), text);
            return file;
          }),
        );
        expectClean(await compile(app, options, entries));
      });
    }

    it("fail `tsc --strict` when a field has another name", async () => {
      await writeFile(
        join(app, "wrong.ts"),
        (await snippet("waitFor")).replace("collection_address:", "collection_adress:"),
      );
      const { code, output } = await compile(app, BROWSER_OPTIONS, ["wrong.ts"]);
      expect(code).to.not.equal(0);
      expect(output).to.contain("'collection_adress' does not exist");
    });

    for (const [name, env] of [
      ["the project's Node", { PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}` }],
      ["the machine's Node", machineEnvironment()],
    ] as const) {
      it(`create a wallet, a collection and a token on ${name}`, async () => {
        // A user has one wallet.
        const source = (await snippet("waitFor")).replace('"alice"', JSON.stringify(name));
        await writeFile(join(app, "snippet.js"), await withoutTypes(source));
        const ended = await runProgram("node", ["snippet.js"], { cwd: app, env });
        expectClean(ended);
        expect(ended.output).to.match(/^Alice has token 1 of 0x[0-9a-fA-F]{40}\.\n$/);
      });
    }

    it("mint with a batch, and name the item that is refused", async () => {
      await writeFile(join(app, "batch.js"), await withoutTypes(await snippet("mintForAll")));
      const script = `
        import { createClient } from "@moneta/client";
        import { mintForAll } from "./batch.js";
        const [baseUrl, token, collection, ...addresses] = process.argv.slice(2);
        const ids = await mintForAll(createClient({ baseUrl, token }), collection, addresses);
        console.log(ids.length);`;
      await writeFile(join(app, "mint.js"), script);
      const collection = await fixture.api.collection({ type: "ERC721", mint_supply_count: 2 });
      const to = await fixture.api.wallet();
      const args = ["mint.js", fixture.baseUrl, fixture.app.token, collection, to, to, to];
      const ended = await runProgram(process.execPath, args, { cwd: app });
      expectClean(ended);
      expect(ended.output).to.equal("2\n");
      expect(ended.errors).to.match(new RegExp(`^${to} gets no token: supply_exceeded: `));
    });

    it("accept a genuine webhook and refuse another", async () => {
      await writeFile(join(app, "receive.js"), await withoutTypes(await snippet("verifyWebhook")));
      const { receive } = (await import(join(app, "receive.js"))) as {
        receive: (request: Request) => Promise<Response>;
      };
      const body = '{"id":"1","type":"sent","request_id":"2"}';
      const signature = new Webhook(SECRET).sign("1", new Date(), body);
      const headers = {
        "webhook-id": "1",
        "webhook-timestamp": Math.floor(Date.now() / 1_000).toString(),
        "webhook-signature": signature,
      };
      const call = (text: string) =>
        receive(new Request("https://app.example", { method: "POST", headers, body: text }));
      expect((await call(body)).status).to.equal(204);
      expect((await call(body.replace("sent", "error"))).status).to.equal(401);
    });
  });

  it("is bundled for browsers, and calls the service from code that sees no part of Node", async () => {
    const { outputFiles, warnings } = await build({
      stdin: { contents: 'export * from "@moneta/client";', resolveDir: app },
      bundle: true,
      // A built-in module of Node would be an error.
      platform: "browser",
      format: "iife",
      globalName: "moneta",
      write: false,
      logLevel: "silent",
    });
    expect(warnings).to.deep.equal([]);
    const page = createContext({
      ...{ fetch, Request, Response, Headers, FormData, URL, URLSearchParams, AbortController, AbortSignal },
      ...{ DOMException, TextEncoder, TextDecoder, crypto, atob, setTimeout, clearTimeout, performance },
    });
    runInContext(outputFiles[0]!.text, page);
    const options = JSON.stringify({ baseUrl: fixture.baseUrl, token: fixture.app.token });
    const call = `moneta.answerOf(moneta.createClient(${options}).POST("/v1/accounts", { body: {} }))`;
    expect(await (runInContext(call, page) as Promise<unknown>)).to.have.property("address");
  });
});

interface CompilerOptions {
  module: string;
  moduleResolution?: string;
  lib?: readonly string[];
  types: readonly string[];
}

/** Runs `tsc --strict` on files of the app, the declarations of the package included. */
async function compile(app: string, options: CompilerOptions, files: string[]): Promise<ProgramEnd> {
  const { lib = ["es2022"], ...others } = options;
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, target: "es2022", lib, noEmit: true },
    ...others,
    typeRoots: [join(ROOT, "node_modules/@types")],
  };
  await writeFile(join(app, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  return runProgram(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", app], { cwd: app });
}

async function withoutTypes(source: string): Promise<string> {
  return (await transform(source, { loader: "ts" })).code;
}

function expectClean({ code, output, errors }: ProgramEnd): void {
  expect(code, output + errors).to.equal(0);
}
