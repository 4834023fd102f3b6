import { randomBytes } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";

import { expect } from "chai";

import { OperatorError } from "../../../api/operator/operator-error.ts";
import { createApp } from "../../../api/operator/create-app.ts";
import type { Service } from "../../../api/context/service.ts";
import { SeedFileError } from "../../../api/keys/seed-file.ts";
import { openDatabase } from "../../../api/store/db/database.ts";
import { ApiClient } from "../../support/api-client.ts";
import { startNode, type TestNode } from "../../support/node.ts";
import { TestProcess } from "../../support/process.ts";
import { startTestService, temporaryFolder } from "../../support/service.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

interface Keys {
  seed_file: string;
  lanes: string[];
  phrase?: string;
}

describe("keys", function () {
  this.timeout(60_000);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let env: Record<string, string>;

  beforeEach(async () => {
    folder = await temporaryFolder();
    env = { DATA_DIR: folder.path, SEED_FILE: `${folder.path}/seed.jwe`, SEED_PASSPHRASE: "correct horse", LANES: "3" };
  });
  afterEach(() => folder.remove());

  async function refused(work: Promise<unknown>): Promise<Error> {
    const error = await work.then(
      () => null,
      (reason: unknown) => reason,
    );
    if (!(error instanceof Error)) throw new Error("it was not refused");
    return error;
  }

  /** `keys restore` reads standard input, so it runs as a program. */
  async function restore(phrase: string, file: string): Promise<{ code: number | NodeJS.Signals; output: string }> {
    const words = `${folder.path}/words`;
    await writeFile(words, phrase);
    const restoring = new TestProcess(
      ["-c", `"${process.execPath}" --import tsx api/cli/main.ts keys restore --json < "${words}"`],
      { ...env, SEED_FILE: file },
      "sh",
    );
    return { code: await restoring.gone(), output: restoring.output };
  }

  describe("create", () => {
    it("writes a file for its owner alone, and shows the words only when asked", async () => {
      const made = await jsonOfCli<Keys>(env, "keys", "create");
      expect(made).to.have.all.keys("seed_file", "lanes");
      expect(new Set(made.lanes).size).to.equal(3);
      expect((await stat(made.seed_file)).mode & 0o777).to.equal(0o600);
      const shown = await jsonOfCli<Keys>(
        { ...env, SEED_FILE: `${folder.path}/b.jwe` },
        "keys",
        "create",
        "--show-phrase",
      );
      expect(shown.phrase?.split(" ")).to.have.length(24);
      expect(await readFile(`${folder.path}/b.jwe`, "utf8")).to.not.contain(shown.phrase?.split(" ")[0]);
    });

    it("never overwrites a file", async () => {
      await runCli(env, "keys", "create");
      const before = await readFile(`${folder.path}/seed.jwe`, "utf8");
      const error = await refused(runCli(env, "keys", "create"));
      expect(error).to.be.instanceOf(SeedFileError);
      expect(error.message).to.match(/exists already; it is not overwritten/);
      expect(await readFile(`${folder.path}/seed.jwe`, "utf8")).to.equal(before);
    });

    it("asks for a passphrase", async () => {
      const error = await refused(runCli({ ...env, SEED_PASSPHRASE: "" }, "keys", "create"));
      expect(error).to.be.instanceOf(OperatorError);
      expect(error.message).to.match(/SEED_PASSPHRASE is not set/);
    });
  });

  describe("check", () => {
    it("names the lanes that the file makes, and refuses a wrong passphrase", async () => {
      const made = await jsonOfCli<Keys>(env, "keys", "create");
      expect(await jsonOfCli<Keys>(env, "keys", "check")).to.deep.equal(made);
      const error = await refused(runCli({ ...env, SEED_PASSPHRASE: "wrong" }, "keys", "check"));
      expect(error).to.be.instanceOf(SeedFileError);
      expect(error.message).to.match(/passphrase does not open the seed file/);
    });

    it("refuses a file that is missing, or no seed file", async () => {
      expect((await refused(runCli(env, "keys", "check"))).message).to.match(/cannot be read \(ENOENT\)/);
      await writeFile(`${folder.path}/seed.jwe`, "nonsense");
      expect((await refused(runCli(env, "keys", "check"))).message).to.match(/is not a seed file/);
    });
  });

  describe("restore", () => {
    it("makes the same addresses of the same words, under another passphrase", async () => {
      const made = await jsonOfCli<Keys>(env, "keys", "create", "--show-phrase");
      env = { ...env, SEED_PASSPHRASE: "another" };
      // However the words are typed: lines, spaces.
      const { code, output } = await restore(
        `  ${(made.phrase ?? "").replaceAll(" ", "\n ")}\n`,
        `${folder.path}/restored.jwe`,
      );
      expect(code).to.equal(0);
      expect((JSON.parse(output) as Keys).lanes).to.deep.equal(made.lanes);
      expect(
        (await jsonOfCli<Keys>({ ...env, SEED_FILE: `${folder.path}/restored.jwe` }, "keys", "check")).lanes,
      ).to.deep.equal(made.lanes);
    });

    it("refuses words with a mistake, and never overwrites a file", async () => {
      const { phrase = "" } = await jsonOfCli<Keys>(env, "keys", "create", "--show-phrase");
      const words = phrase.split(" ");
      const mistaken = await restore([...words.slice(1), words[0]].join(" "), `${folder.path}/restored.jwe`);
      expect(mistaken.code).to.equal(1);
      expect(mistaken.output).to.match(/does not hold the words of a seed/);
      const again = await restore(phrase, `${folder.path}/seed.jwe`);
      expect(again.code).to.equal(1);
      expect(again.output).to.match(/not overwritten/);
    });
  });

  describe("rotate", () => {
    const [oldKey, newKey] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")];
    const OLD = { SECRET_KEYS: oldKey };
    const BOTH = { SECRET_KEYS: `${newKey},${oldKey}` };
    const NEW = { SECRET_KEYS: newKey };
    let node: TestNode;
    before(async () => {
      node = await startNode();
    });
    after(() => node.stop());

    interface Rotated {
      resealed: number;
      unchanged: number;
      idempotency_keys: number;
    }
    const serve = (more: Record<string, string>) =>
      startTestService({ rpcUrl: node.url, dataDir: folder.path, env: more });
    const rotate = (more: Record<string, string>) =>
      jsonOfCli<Rotated>({ DATA_DIR: folder.path, ...more }, "keys", "rotate");

    it("seals everything anew while the service works, and then the old key can be dropped", async () => {
      let service: Service & { baseUrl: string } = await serve(OLD);
      try {
        const { token } = await createApp(service, "rotate");
        let api = new ApiClient(service.baseUrl, token);
        const wallet = await api.wallet();
        const collection = await api.collection({ type: "ERC721" });
        const mint = (content: string) => ({
          collection_address: collection,
          to_address: wallet,
          unlockable_content: content,
        });
        await Promise.all(
          Array.from({ length: 120 }, (_, index) => api.completed("/v1/nfts", mint(`secret ${index.toString()}`))),
        );
        await api.ok("PUT", "/v1/webhook", { url: "http://127.0.0.1:9/" });
        await api.send("POST", "/v1/accounts", { user_identifier: "first" }, { "idempotency-key": "one" });

        await service.stop();
        service = await serve(BOTH);
        api = new ApiClient(service.baseUrl, token);
        const busy = Promise.all(
          Array.from({ length: 40 }, (_, index) => api.completed("/v1/nfts", mint(`during ${index.toString()}`))),
        );
        const first = await rotate(BOTH);
        expect(first).to.include({ resealed: 121, idempotency_keys: 1 });
        await busy;
        expect(await rotate(BOTH)).to.include({ resealed: 0, unchanged: 161 });

        await service.stop();
        service = await serve(NEW);
        api = new ApiClient(service.baseUrl, token);
        const contents: string[] = [];
        for (let offset = 0; offset < 160; offset += 30) {
          const { nfts } = await api.ok<{ nfts: { unlockable_content: string }[] }>(
            "GET",
            `/v1/accounts/${wallet}?limit=30&offset=${offset.toString()}`,
          );
          contents.push(...nfts.map((nft) => nft.unlockable_content));
        }
        const expected = [
          ...Array.from({ length: 120 }, (_, i) => `secret ${i.toString()}`),
          ...Array.from({ length: 40 }, (_, i) => `during ${i.toString()}`),
        ];
        expect(contents.sort()).to.deep.equal(expected.sort());
        expect(await api.ok("POST", "/v1/webhook/secret")).to.have.property("secret");
        // Refused, as the command said, and not done a second time.
        const repeated = await api.send(
          "POST",
          "/v1/accounts",
          { user_identifier: "first" },
          { "idempotency-key": "one" },
        );
        expect(repeated.status).to.equal(409);
      } finally {
        await service.stop();
      }
    });

    it("goes on where it was broken off, and says which key is missing", async () => {
      const service = await serve(OLD);
      const api = new ApiClient(service.baseUrl, (await createApp(service, "broken off")).token);
      const wallet = await api.wallet();
      const collection = await api.collection({ type: "ERC721" });
      const ids: string[] = [];
      for (const content of ["a", "b", "c"]) {
        ids.push(
          (
            await api.completed("/v1/nfts", {
              collection_address: collection,
              to_address: wallet,
              unlockable_content: content,
            })
          ).request_id,
        );
      }
      await service.stop();
      expect((await refused(rotate(NEW))).message).to.match(
        /request [0-9a-f]{64} cannot be opened: .* Keep every older key/,
      );
      const database = await openDatabase(`file:${folder.path}/moneta.sqlite`);
      const last = (sealed: string) =>
        database.write((trx) =>
          trx
            .updateTable("requests")
            .set({ unlockable: sealed })
            .where("id", "=", ids[2] ?? "")
            .execute(),
        );
      const row = await database.read
        .selectFrom("requests")
        .select("unlockable")
        .where("id", "=", ids[2] ?? "")
        .executeTakeFirstOrThrow();
      try {
        await last("not sealed at all");
        expect((await refused(rotate(BOTH))).message).to.match(/was never sealed/);
        await last(row.unlockable ?? "");
        expect(await rotate(BOTH)).to.include({ resealed: 3, unchanged: 0 });
        expect(await rotate(NEW)).to.include({ resealed: 0, unchanged: 3 });
      } finally {
        await database.close();
      }
    });
  });
});
