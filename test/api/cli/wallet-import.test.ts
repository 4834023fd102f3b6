import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { expect } from "chai";
import { encryptKeystoreJson, hexlify, Wallet } from "ethers";

import { createKeyring } from "../../../api/keys/keyring.ts";
import { newSeedPhrase, readSeedFile } from "../../../api/keys/seed-file.ts";
import type { Shape } from "../../../client/client.ts";
import { Foreign } from "../../support/foreign.ts";
import { useFolder } from "../../support/use-folder.ts";
import { useService } from "../../support/use-service.ts";
import { type Imported, importKeys, runImport } from "./support/import-keys.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

describe("command line: wallet import", () => {
  const moneta = useService();
  const place = useFolder();
  const foreign = new Foreign(moneta);
  const { api } = moneta;

  const imports = (rows: readonly string[], ...options: string[]) =>
    importKeys(moneta.env, moneta.app.appId, rows, ...options);
  const resultsOf = ({ rows }: Imported) => rows.map(({ line, result }) => `${line.toString()} ${result}`);
  /** The first start has made the keys. */
  async function seedEnv(): Promise<{ SEED_FILE: string; SEED_PASSPHRASE: string }> {
    const secrets = JSON.parse(await readFile(join(moneta.folder, "local-secrets.json"), "utf8")) as Record<
      string,
      string
    >;
    return { SEED_FILE: join(moneta.folder, "seed.jwe"), SEED_PASSPHRASE: secrets["seed_passphrase"] ?? "" };
  }
  const walletOf = (user: string) => api.ok<Shape<"Wallet">>("GET", `/v1/accounts/user/${user}`);

  describe("given a table", () => {
    it("adds the good rows, reports each, adds nothing twice, and shows no key", async () => {
      const [ann, bob, cleo, dora] = Array.from({ length: 4 }, () => Wallet.createRandom());
      if (!ann || !bob || !cleo || !dora) throw new Error("no keys");
      const rows = [
        "User Identifier,Private Key,Address",
        `ann,${ann.privateKey},`,
        `bob,${bob.privateKey.slice(2).toUpperCase()},${bob.address.toLowerCase()}`,
        `,${cleo.privateKey},${cleo.address}`,
        `emil,${dora.privateKey},${ann.address}`,
        `fay,${"0x" + "0".repeat(64)},`,
        `gus,${dora.privateKey.slice(0, 40)},`,
        `${dora.privateKey},${dora.privateKey},`,
        `hal,,`,
        `ann,${dora.privateKey},`,
        `ivy,${ann.privateKey},`,
        `ann,${ann.privateKey},`,
        `joy,${dora.privateKey},${dora.privateKey}`,
        `kim,${dora.privateKey}`,
      ];
      const first = await imports(rows);
      expect(first).to.include({ app_id: moneta.app.appId, added: 3, completed: 0, already_there: 1, refused: 9 });
      expect(resultsOf(first)).to.deep.equal([
        ...["2 added", "3 added", "4 added", "5 address_differs", "6 invalid_row", "7 invalid_row", "8 invalid_row"],
        ...["9 invalid_row", "10 user_identifier_taken", "11 has_another_user", "12 already_there", "13 invalid_row"],
        "14 invalid_row",
      ]);
      expect(first.rows[2]).to.deep.equal({
        ...{ line: 4, user_identifier: null, address: cleo.address, delegate: null, result: "added", message: null },
      });
      expect(await walletOf("bob")).to.deep.equal({ address: bob.address, user_identifier: "bob", watch_only: false });
      const again = await runImport(moneta.env, rows.join("\n"), "--app", moneta.app.appId);
      expect(again.code).to.equal(1);
      expect(again.output).to.match(/^line 2: already there 0x/m);
      expect(again.output).to.match(
        /^0 wallets added to .+, 0 watch-only got their keys, 4 there already, 9 rows refused\.$/m,
      );
      const shown = JSON.stringify(first) + again.output + again.errors;
      for (const { privateKey } of [ann, bob, cleo, dora])
        expect(shown.toLowerCase()).to.not.contain(privateKey.slice(2, 42));
    });

    it("takes JSON in lines, and keystores with their passwords", async () => {
      const [lia, max] = [Wallet.createRandom(), Wallet.createRandom()];
      const keystore = await encryptKeystoreJson({ address: max.address, privateKey: max.privateKey }, "open sesame", {
        scrypt: { N: 1_024 },
      });
      const line = (more: object) => JSON.stringify(more);
      const done = await imports([
        line({ user_identifier: "lia", private_key: lia.privateKey }),
        "",
        line({ user_identifier: "max", keystore: JSON.parse(keystore) as object, password: "open sesame" }),
        line({ user_identifier: "max", keystore, password: "open sesame", address: max.address }),
        line({ user_identifier: "max", keystore, password: "wrong" }),
        line({ user_identifier: "max", keystore: {}, password: "wrong" }),
        line({ user_identifier: "max", key: lia.privateKey }),
        "{",
      ]);
      expect(resultsOf(done)).to.deep.equal([
        ...[
          "1 added",
          "3 added",
          "4 already_there",
          "5 invalid_row",
          "6 invalid_row",
          "7 invalid_row",
          "8 invalid_row",
        ],
      ]);
      expect(done.rows[3]?.message).to.equal("keystore: The password does not open it, or it is damaged.");
      expect(await walletOf("max")).to.include({ address: max.address, watch_only: false });
      const quoted = `"${keystore.replaceAll('"', '""')}"`;
      const csv = await imports(["user_identifier;keystore;password", `max;${quoted};open sesame`]);
      expect(resultsOf(csv)).to.deep.equal(["2 already_there"]);
    });

    it("refuses keystores that would cost hours or are nested too deep, and goes on with the next row", async () => {
      const { address, privateKey } = Wallet.createRandom();
      const json = await encryptKeystoreJson({ address, privateKey }, "open", { scrypt: { N: 2 } });
      const keystore = JSON.parse(json) as { Crypto: { kdfparams: object } };
      const costing = (more: object, kdf = "scrypt") => {
        const kdfparams = { ...keystore.Crypto.kdfparams, ...more };
        return { ...keystore, Crypto: { ...keystore.Crypto, kdf, kdfparams } };
      };
      const stores = [
        costing({ n: 2 ** 30 }),
        costing({ p: 2 ** 24 }),
        costing({ r: 2 ** 24 }),
        costing({ c: 2 ** 31, prf: "hmac-sha256" }, "pbkdf2"),
        costing({ c: 2, prf: "hmac-sha256" }, "pbkdf2"),
        keystore,
      ];
      const rows = stores.map((one) => JSON.stringify({ user_identifier: "eve", keystore: one, password: "open" }));
      const deep = `{"user_identifier": "eve", "keystore": ${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}}`;
      const done = await imports([...rows.slice(0, 5), deep, ...rows.slice(5)]);
      expect(done).to.include({ added: 1, refused: 6 });
      const costs = "keystore: Its scrypt or pbkdf2 would take too long.";
      const damaged = "keystore: The password does not open it, or it is damaged.";
      expect(done.rows.slice(0, 5).map(({ message }) => message)).to.deep.equal([
        ...[costs, costs, costs, costs, damaged],
      ]);
      expect(done.rows[5]?.message).to.contain("The line is not a JSON object");
      expect(done.rows[6]).to.include({ result: "added", address });
    });

    it("refuses a table whose first line names other columns but no user_identifier", async () => {
      const { address, privateKey } = Wallet.createRandom();
      const table = `address,private_key\n${address},${privateKey}`;
      const { output, errors } = await runImport(moneta.env, table, "--app", moneta.app.appId);
      expect([output, errors]).to.deep.equal(["", "The table has no column user_identifier: add it.\n"]);
    });

    it("reads a table with a byte order mark, other line ends and quotes, and no NUL", async () => {
      const keys = Array.from({ length: 3 }, () => Wallet.createRandom().privateKey);
      const [first, second, third] = keys as [string, string, string];
      const lines = [`"user_identifier","private_key"`, `"a, b","${first}"`, `nul,${second}\0`, `n\0ul,${third}`];
      const done = await imports([`\uFEFF${lines.join("\r\n")}\r\n`]);
      expect(resultsOf(done)).to.deep.equal(["2 added", "3 invalid_row", "4 invalid_row"]);
      expect((await walletOf(encodeURIComponent("a, b"))).user_identifier).to.equal("a, b");
    });

    it("refuses input without an end, and more lines than it keeps in memory", async () => {
      const words = ["api/cli/main.ts", "wallets", "import", "--app", moneta.app.appId];
      const endless = await open("/dev/zero");
      const child = spawn(process.execPath, words, {
        ...{ env: { ...process.env, ...moneta.env }, stdio: [endless.fd, "ignore", "pipe"] },
      });
      if (child.stderr === null) throw new Error("no errors to read");
      const [errors] = await Promise.all([text(child.stderr), once(child, "close")]);
      await endless.close();
      expect(errors).to.equal("Standard input has more than 64 MiB. Split the table.\n");
      const many = await runImport(moneta.env, "a,\n".repeat(250_001), "--app", moneta.app.appId);
      expect(many.errors).to.equal("Standard input has more than 250,000 lines. Split the table.\n");
    });

    it("refuses accounts that the key alone does not rule, and shows whom they have delegated to", async () => {
      const [smart, delegating] = [Wallet.createRandom(), Wallet.createRandom().connect(moneta.provider)];
      const contract = await foreign.withCode("0x6001");
      const there = await foreign.rejecting();
      const authorization = await delegating.authorize({ address: contract, nonce: 0 });
      const signer = await foreign.signer();
      await (await signer.sendTransaction({ to: signer.address, authorizationList: [authorization] })).wait();
      const rows = [
        "user_identifier,private_key,address",
        `smart-user,${smart.privateKey},${there}`,
        `delegating,${delegating.privateKey},`,
      ];
      const refused = await imports(rows);
      expect(resultsOf(refused)).to.deep.equal(["2 smart_account", "3 delegated"]);
      expect(refused.rows[1]).to.include({ address: delegating.address, delegate: contract });
      expect(refused.rows[1]?.message).to.contain(contract).and.to.contain("--replace-delegations");
      const replaced = await imports(rows.slice(0, 3).toSpliced(1, 1), "--replace-delegations");
      expect(replaced.rows[0]).to.include({ result: "added", delegate: contract });
    });
  });

  describe("given an address that is known", () => {
    it("refuses wallets of any app with the same answer, and makes watch-only wallets of the app full", async () => {
      const [theirs, mine] = [Wallet.createRandom(), Wallet.createRandom()];
      const other = `other-${moneta.app.appId.slice(0, 8)}`;
      await runCli(moneta.env, "app", "create", other);
      await importKeys(moneta.env, other, [`a,${theirs.privateKey}`]);
      const { SEED_FILE, SEED_PASSPHRASE } = await seedEnv();
      const keyring = createKeyring(await readSeedFile(SEED_FILE, SEED_PASSPHRASE));
      const derived = await moneta.service.database.read
        .selectFrom("wallets")
        .select("path")
        .where("address", "=", await api.wallet())
        .executeTakeFirstOrThrow();
      const keys = [theirs, keyring.lane(0).key, keyring.wallet(derived.path).key];
      const taken = await imports(keys.map(({ privateKey }, index) => `taken-${index.toString()},${privateKey}`));
      expect(resultsOf(taken)).to.deep.equal(["1 address_taken", "2 address_taken", "3 address_taken"]);
      expect(new Set(taken.rows.map(({ message }) => message)).size).to.equal(1);

      const table = join(place.path, "users.csv");
      await writeFile(table, `watching,${mine.address}`);
      const adopt = ["wallets", "adopt", table, "--app", moneta.app.appId];
      const watch = await jsonOfCli<{ added: number }>(moneta.env, ...adopt);
      expect(watch.added).to.equal(1);
      expect(resultsOf(await imports([`someone,${mine.privateKey}`]))).to.deep.equal(["1 has_another_user"]);
      expect(resultsOf(await imports([`,${mine.privateKey}`]))).to.deep.equal(["1 completed"]);
      expect(await walletOf("watching")).to.deep.equal({
        ...{ address: mine.address, user_identifier: "watching", watch_only: false },
      });
      expect(resultsOf(await imports([`watching,${mine.privateKey}`]))).to.deep.equal(["1 already_there"]);
    });

    it("refuses a new key for a user who has a wallet", async () => {
      await api.wallet("zoe");
      expect(resultsOf(await imports([`zoe,${Wallet.createRandom().privateKey}`]))).to.deep.equal([
        "1 user_identifier_taken",
      ]);
    });
  });

  describe("given an import key", () => {
    const without = () => ({ ...moneta.env, SEED_FILE: `${moneta.folder}/no-seed.jwe` });

    it("needs no seed, and refuses the key of another seed, also with the seed", async () => {
      const { import_key: key } = await jsonOfCli<{ import_key: string }>(
        { ...moneta.env, ...(await seedEnv()) },
        "keys",
        "check",
      );
      const row = [`seedless,${Wallet.createRandom().privateKey}`];
      const app = moneta.app.appId;
      expect(await importKeys(without(), app, row, "--import-key", key)).to.include({ added: 1 });
      const wrong = createKeyring(newSeedPhrase()).importKey;
      for (const env of [without(), moneta.env]) {
        const { output, errors } = await runImport(env, row.join("\n"), "--app", app, "--import-key", wrong);
        expect([output, errors]).to.deep.equal(["", errors]);
        expect(errors).to.contain("The import key is not that of this database's seed.");
      }
      expect((await runImport(without(), row.join("\n"), "--app", app)).errors).to.contain("Give --import-key");
    });

    it("never takes it from the database", async () => {
      const { database } = moneta.service;
      const setKey = (value: string) =>
        database.write((trx) => trx.updateTable("meta").set({ value }).where("key", "=", "import_key").execute());
      const { value } = await database.read
        .selectFrom("meta")
        .select("value")
        .where("key", "=", "import_key")
        .executeTakeFirstOrThrow();
      await setKey(hexlify(new Uint8Array(32)).slice(2));
      try {
        const row = `nobody,${Wallet.createRandom().privateKey}`;
        expect((await runImport(moneta.env, row, "--app", moneta.app.appId)).errors).to.contain("Nothing was stored.");
      } finally {
        await setKey(value);
      }
    });
  });
});
