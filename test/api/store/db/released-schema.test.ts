import { expect } from "chai";

import packageJson from "../../../../package.json" with { type: "json" };
import { readQuotaUses } from "../../../../api/store/apps/quotas.ts";
import { openDatabase } from "../../../../api/store/db/database.ts";
import { MIGRATIONS } from "../../../../api/store/db/migrate.ts";
import { createTestDatabase, type DatabasePlace } from "../../../support/database.ts";
import { TEST_ENGINE } from "../../../support/engine.ts";
import { rawSql, tablesOf } from "../../../support/raw-sql.ts";
import { Released } from "../../../support/released.ts";
import { useFolder } from "../../../support/use-folder.ts";
import { openWith } from "../support/later-version.ts";

/** Tables that the fixture of a version may leave empty, with the reason. */
const EMPTY: Readonly<Record<string, Readonly<Record<string, string>>>> = {};
/** The version whose apps had no quotas of their own. */
const WITHOUT_QUOTAS = "0.2.0";

/** Everything that a migration creates: tables, columns, keys, indexes and how rows are stored. */
const SCHEMA: Record<typeof TEST_ENGINE, string> = {
  sqlite: `select name, sql from sqlite_schema where name not like 'sqlite_%' and name not like 'kysely_%'`,
  postgres: `
    with tables as (
      select oid, relname, reloptions from pg_class
       where relkind = 'r' and relnamespace = 'public'::regnamespace and relname not like 'kysely_%')
    select 'table ' || relname as name, coalesce(reloptions::text, '') as sql from tables
    union all select 'column ' || relname || '.' || attname, concat_ws(' ', format_type(atttypid, atttypmod), attnotnull,
        attidentity, attstorage, attcollation::regcollation, pg_get_expr(adbin, adrelid))
      from tables join pg_attribute on attrelid = tables.oid and attnum > 0 and not attisdropped
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
    union all select 'index ' || indexrelid::regclass, pg_get_indexdef(indexrelid)
      from tables join pg_index on indrelid = tables.oid
    union all select 'key ' || relname || '.' || conname, pg_get_constraintdef(pg_constraint.oid)
      from tables join pg_constraint on conrelid = tables.oid and contype <> 'n'`,
};

for (const released of Released.all()) {
  const { version } = released.manifest;

  describe(`the database that version ${version} has left`, () => {
    const folder = useFolder();
    let place: DatabasePlace;

    beforeEach(async () => {
      place = await released.database(folder.path);
    });
    afterEach(() => place.remove());

    const schemaOf = async (url: string) => {
      const rows = await rawSql(url, SCHEMA[TEST_ENGINE]);
      return rows.map(({ name, sql }) => `${String(name)}: ${String(sql)}`).sort();
    };
    const appliedTo = async (url: string) =>
      (await rawSql(url, "select name from kysely_migration order by name")).map(({ name }) => String(name));

    it("has a row in every table, so that the upgrade meets every kind of row", async () => {
      const tables = (await tablesOf(place.url)).filter((table) => !table.startsWith("kysely_"));
      const empty: string[] = [];
      for (const table of tables) {
        const [row] = await rawSql(place.url, `select count(*) as n from "${table}"`);
        if (Number(row?.["n"]) === 0) empty.push(table);
      }
      expect(tables).to.include.members(["requests", "media_jobs", "deliveries"]);
      expect(empty).to.have.members(Object.keys(EMPTY[version] ?? {}));
    });

    const ofFirst = version === WITHOUT_QUOTAS ? it : () => undefined;
    ofFirst(
      "has apps that keep their quotas and get none of the new ones, whose requests count from now on",
      async () => {
        const database = await openDatabase(place.url);
        try {
          const apps = await database.read.selectFrom("apps").selectAll().execute();
          const uses = await readQuotaUses(database.read, apps);
          const useOf = (name: string) => uses.find(({ app }) => app.name === name)?.use;
          expect(useOf("press")?.wallets.limit).to.equal(10);
          for (const name of ["stored_bytes", "collections", "mints", "api_tokens"] as const) {
            expect(uses.map(({ use }) => use[name].limit)).to.deep.equal(apps.map(() => null));
          }
          const shop = useOf("shop");
          expect(shop?.stored_bytes.used).to.equal(0);
          expect(shop?.collections.used).to.be.greaterThan(0);
          expect(shop?.mints.used).to.be.greaterThan(0);
        } finally {
          await database.close();
        }
      },
    );

    // Until its release the schema of a version may still change.
    const ofThis = version === packageJson.version ? it : () => undefined;
    ofThis("has every migration of this version", async () => {
      expect(
        await appliedTo(place.url),
        "The fixture of this version is older than its schema: run `npm run update -- fixtures`.",
      ).to.include.members(Object.keys(MIGRATIONS).filter((name) => name.includes(`-v${version}-`)));
    });

    it("has exactly the tables that its migrations create today", async () => {
      const applied = await appliedTo(place.url);
      const today = await createTestDatabase({ schema: "none" });
      try {
        await openWith(today.url, Object.fromEntries(Object.entries(MIGRATIONS).slice(0, applied.length)));
        expect(await appliedTo(today.url)).to.deep.equal(applied);
        expect(
          await schemaOf(today.url),
          `A migration that version ${version} has was changed (${applied.join(", ")}). Databases of that version would never ` +
            'get the change. Undo it, and add a new migration: see "Migrations and releases" in CONTRIBUTING.md. Difference',
        ).to.deep.equal(await schemaOf(place.url));
      } finally {
        await today.remove();
      }
    });
  });
}
