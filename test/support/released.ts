import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";

import BetterSqlite3 from "better-sqlite3";

import type { Manifest } from "../../scripts/upgrade/make-fixtures.ts";
import { createTestDatabase, type DatabasePlace, fileOf } from "./database.ts";
import { TEST_ENGINE } from "./engine.ts";
import { ROOT } from "./process.ts";
import { withClient } from "./raw-sql.ts";

/** What moves with the origin. Other URLs of the origin are on the chain, as base URIs. */
const MOVED = ["/hook/", "/media/"];
const FIXTURES = join(ROOT, "test", "fixtures");

/** What a released version has left on the engine of this run: see `scripts/upgrade/make-fixtures.ts`. */
export class Released {
  readonly manifest: Manifest;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest;
  }

  /** Every version that has left something, oldest first. */
  static all(): Released[] {
    return readdirSync(FIXTURES)
      .map((version) => join(FIXTURES, version, TEST_ENGINE))
      .filter((folder) => existsSync(folder))
      .map((folder) => new Released(folder))
      .sort((one, other) => one.manifest.version.localeCompare(other.manifest.version, "en", { numeric: true }));
  }

  async unpacked(name: string): Promise<Buffer> {
    return brotliDecompressSync(await readFile(join(this.#folder, name)));
  }

  /**
   * A copy of the database, which nobody has opened yet.
   * @param origin where the webhook receivers and the media are now.
   */
  async database(folder: string, origin = this.manifest.origin): Promise<DatabasePlace> {
    const place = await createTestDatabase({ folder, schema: "none" });
    if (TEST_ENGINE === "sqlite") await this.#loadFile(fileOf(place.url), origin);
    else await this.#loadDump(place.url, origin);
    return place;
  }

  /** What an interrupted `reconcile` had read. */
  async placeReconcile(folder: string): Promise<void> {
    await mkdir(join(folder, "reconcile"));
    await writeFile(join(folder, "reconcile", "chain.sqlite"), await this.unpacked("reconcile.sqlite.br"));
  }

  async #loadFile(file: string, origin: string): Promise<void> {
    await writeFile(file, await this.unpacked("moneta.sqlite.br"));
    const database = new BetterSqlite3(file);
    try {
      const columns = database
        .prepare<[], { t: string; c: string }>(
          `select m.name as t, c.name as c from sqlite_schema as m join pragma_table_info(m.name) as c
            where m.type = 'table' and c.type = 'TEXT' collate nocase`,
        )
        .all();
      for (const { t, c } of columns) {
        const update = database.prepare(`update "${t}" set "${c}" = replace("${c}", ?, ?) where instr("${c}", ?) > 0`);
        for (const path of MOVED) update.run(this.manifest.origin + path, origin + path, this.manifest.origin + path);
      }
    } finally {
      database.close();
    }
  }

  async #loadDump(url: string, origin: string): Promise<void> {
    let text = (await this.unpacked("moneta.sql.br")).toString();
    for (const path of MOVED) text = text.replaceAll(this.manifest.origin + path, origin + path);
    await withClient(url, (client) => client.query(text));
  }
}
