import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";
import { Wallet } from "ethers";

import type { Examination } from "../../../api/checks/examine.ts";
import type { Manifest } from "../../../api/operate/backup/manifest.ts";
import type { Reconciliation } from "../../../api/operate/reconcile/reconcile.ts";
import { ApiClient } from "../../support/api-client.ts";
import { describeWithBackups } from "../../support/pg-bin.ts";
import { startTestService } from "../../support/service.ts";
import { useBackups } from "./support/backups.ts";
import { importKeys } from "./support/import-keys.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

describeWithBackups("backups of imported keys", () => {
  const backups = useBackups();
  const { moneta } = backups;
  const { privateKey, address } = Wallet.createRandom();
  let folder: string;

  const findings = async (env: Record<string, string>, name = "imported") =>
    (await jsonOfCli<Examination>(env, "doctor")).findings.filter(({ check }) => check === name);
  const sealed = () => moneta.service.database.read.selectFrom("imported_keys").selectAll().execute();

  before(async () => {
    expect(await importKeys(backups.env, moneta.app.appId, [`ann,${privateKey}`])).to.include({ added: 1 });
  });

  it("are asked for by the doctor until they are made, and say how many keys they have", async () => {
    expect(await findings(backups.env)).to.deep.equal([
      {
        ...{ check: "imported", result: "warning" },
        words: "1 imported key, some newer than the last `backup`. Nothing else brings them back: make a backup.",
      },
    ]);
    folder = backups.newFolder();
    const { output } = await runCli(backups.env, "backup", folder);
    expect(output).to.match(/keys +1 imported key of wallets: only backups have them/);
    const { backup } = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8")) as { backup: Manifest };
    expect(backup.imported_keys).to.include({ count: 1, newest: 1 });
    expect(backups.first.backup.imported_keys).to.include({ count: 0 });
    expect(await findings(backups.env)).to.deep.equal([{ check: "imported", result: "ok", words: "1 imported key" }]);
    await importKeys(backups.env, moneta.app.appId, [`bob,${Wallet.createRandom().privateKey}`]);
    expect((await findings(backups.env)).map(({ words }) => words.slice(0, 28))).to.deep.equal([
      "2 imported keys, some newer ",
    ]);
    const raw = Buffer.from(privateKey.slice(2), "hex");
    for (const file of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const bytes = await readFile(join(file.parentPath, file.name));
      for (const form of [raw, raw.toString("hex"), raw.toString("base64url")])
        expect(bytes.includes(form), file.name).to.equal(false);
    }
  });

  it("say when the seed on the machine is another one, or none is there", async () => {
    const place = await backups.place();
    await rm(join(place.dataDir, "seed.jwe"));
    const none = await runCli(place.env, "restore", folder);
    expect(none.output).to.contain("Only the seed of this backup opens its 1 imported key.");
    const other = await backups.place();
    const secrets = JSON.parse(await readFile(join(other.dataDir, "local-secrets.json"), "utf8")) as {
      seed_passphrase: string;
    };
    const env = { ...other.env, SEED_FILE: join(other.dataDir, "other.jwe"), SEED_PASSPHRASE: secrets.seed_passphrase };
    await runCli(env, "keys", "create");
    const { output } = await runCli(env, "restore", folder);
    expect(output).to.contain("The seed in SEED_FILE CANNOT OPEN the 1 imported key: it is another one.");
    const words =
      "The seed in SEED_FILE did not make this database's wallets, and opens no imported keys. Set SEED_FILE to the seed file of this database.";
    expect(await findings(env, "seed")).to.deep.equal([{ check: "seed", result: "problem", words }]);
  });

  it("are not needed for `keys rotate`: it leaves the keys as they are", async () => {
    const before = await sealed();
    await runCli(backups.env, "keys", "rotate");
    expect(await sealed()).to.deep.equal(before);
    expect(before).to.have.length(2);
  });

  // The last one: afterwards, the database of the block's service is an old one.
  it("bring the keys back, for the same seed, and the wallets sign; reconcile finds nothing wrong with them", async () => {
    const collection = await moneta.api.collection({ type: "ERC721" });
    await moneta.api.mint(collection, address);
    await moneta.api.mint(collection, address);
    await moneta.stop();
    const place = await backups.place();
    expect((await runCli(place.env, "restore", folder)).output).to.contain("The seed opens the 1 imported key.");
    await runCli(place.env, "reconcile");
    const again = await jsonOfCli<Reconciliation>(place.env, "reconcile", "--dry-run");
    expect(again.comparison.told).to.deep.equal([]);
    const service = await startTestService({ rpcUrl: moneta.node.url, dataDir: place.dataDir, env: place.env });
    try {
      const api = ApiClient.at(service.baseUrl, moneta.app.token);
      await api.move(collection, 1, address, await api.wallet());
    } finally {
      await service.stop();
    }
  });
});
