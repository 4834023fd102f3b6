import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { MIGRATIONS } from "../../../api/store/db/migrate.ts";
import { withDatabase } from "../../../scripts/scene/scene.ts";
import { createTestDatabase, type DatabasePlace } from "../../support/database.ts";
import { backupSettings, describeWithBackups } from "../../support/pg-bin.ts";
import { rawSql, tablesOf } from "../../support/raw-sql.ts";
import { Released } from "../../support/released.ts";
import { useFolder } from "../../support/use-folder.ts";
import { runCli } from "./support/run.ts";

/** Tables whose rows a restore, or the upgrade that it ends with, changes on purpose. */
const CHANGED = ["meta", "processes", "leases", "parked_rows"];

for (const released of Released.all()) {
  const { version, settings } = released.manifest;

  describeWithBackups(`a backup of the database of version ${version}`, () => {
    const folder = useFolder();
    const places: DatabasePlace[] = [];
    afterEach(async () => {
      for (const place of places.splice(0)) await place.remove();
    });

    const countRows = async (url: string, tables: readonly string[]) => {
      const counts = tables.map((table) => `select '${table}' as name, count(*) as rows from ${table}`);
      return (await rawSql(url, counts.join(" union all "))).map(
        (row) => `${String(row["name"])}: ${String(row["rows"])}`,
      );
    };

    it("is restored with every row, and brought to this version", async () => {
      await mkdir(join(folder.path, "old"));
      const old = await released.database(join(folder.path, "old"));
      const restored = await createTestDatabase({ folder: join(folder.path, "new"), schema: "none" });
      places.push(old, restored);
      const env = { ...backupSettings(), ...settings, RPC_URL: "http://127.0.0.1:9", PORT: "0" };
      const backup = join(folder.path, "backup");
      await runCli({ ...env, DATABASE_URL: old.url, DATA_DIR: join(folder.path, "old") }, "backup", backup);
      await runCli({ ...env, DATABASE_URL: restored.url, DATA_DIR: join(folder.path, "new") }, "restore", backup);
      const now = await tablesOf(restored.url);
      const isSame = (table: string) => now.includes(table) && !CHANGED.includes(table) && !table.startsWith("kysely_");
      const tables = (await tablesOf(old.url)).filter(isSame);
      expect(tables).to.include.members(["apps", "wallets", "requests", "nfts", "holdings", "idempotency_keys"]);
      expect(await countRows(restored.url, tables)).to.deep.equal(await countRows(old.url, tables));
      const applied = await rawSql(restored.url, "select name from kysely_migration order by name");
      expect(applied.map(({ name }) => name)).to.deep.equal(Object.keys(MIGRATIONS));
      const running = await withDatabase(restored.url, ({ read }) =>
        read.selectFrom("processes").select("id").execute(),
      );
      expect(running).to.deep.equal([]);
    });
  });
}
