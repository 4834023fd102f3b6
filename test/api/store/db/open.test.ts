import { chmod, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";

import { openDatabase, openExistingDatabase } from "../../../../api/store/db/database.ts";
import { DatabaseError, DatabaseMissing, DatabaseUnavailable } from "../../../../api/store/db/errors.ts";
import { writeMeta } from "../../../../api/store/db/meta.ts";
import { describeOn } from "../../../support/engine.ts";
import { rejectionOf } from "../../../support/rejection.ts";
import { useFolder } from "../../../support/use-folder.ts";

type Pragma = BetterSqlite3.Database["pragma"];

describeOn("sqlite", "opening the database", () => {
  const folder = useFolder();
  let file: string;
  beforeEach(() => {
    file = join(folder.path, "data", "local", "moneta.sqlite");
  });

  const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

  /** @returns why the database was not opened. */
  const failure = (url: string, open = openDatabase) => rejectionOf(open(url).then((database) => database.close()));

  describe("given no database", () => {
    it("creates its files and folders for this user only", async () => {
      const database = await openDatabase(`file:${file}`);
      await database.write((trx) => writeMeta(trx, "chain_id", "1"));
      for (const name of [file, `${file}-wal`, `${file}-shm`]) expect(await modeOf(name), name).to.equal("600");
      for (const name of ["data", "data/local"]) expect(await modeOf(join(folder.path, name)), name).to.equal("700");
      await database.close();
    });

    it("fails where one must exist, and creates nothing", async () => {
      const error = await failure(`file:${file}`, openExistingDatabase);
      expect(error).to.be.instanceOf(DatabaseMissing);
      expect(error.message).to.equal(
        `There is no database at ${file}. Set DATA_DIR (or DATABASE_URL) to that of the service, or start the service ` +
          "once: it creates the database.",
      );
      expect(await readdir(folder.path)).to.deep.equal([]);
    });
  });

  describe("given a database that nobody has read from", () => {
    it("closes it whole: the mode of its journal can change", async () => {
      await (await openDatabase(`file:${file}`)).close();
      const alone = new BetterSqlite3(file);
      // SQLite refuses this while any other connection is open.
      expect(alone.pragma("journal_mode = DELETE", { simple: true })).to.equal("delete");
      alone.close();
    });
  });

  describe("given a database that others may read", () => {
    it("opens it, and leaves its mode to the operator", async () => {
      await (await openDatabase(`file:${file}`)).close();
      await chmod(file, 0o644);
      for (const open of [openDatabase, openExistingDatabase]) {
        const database = await open(`file:${file}`);
        expect(await database.read.selectFrom("apps").selectAll().execute()).to.deep.equal([]);
        await database.close();
      }
      expect(await modeOf(file)).to.equal("644");
    });
  });

  describe("given a path that cannot be a database", () => {
    const cases: [string, () => Promise<string>, string][] = [
      [
        "a folder",
        async () => {
          await mkdir(file, { recursive: true });
          return file;
        },
        "it is a folder, not a file",
      ],
      [
        "below a file",
        async () => {
          await writeFile(join(folder.path, "data"), "");
          return file;
        },
        "part of the path is a file, not a folder (ENOTDIR)",
      ],
      [
        "another kind of file",
        async () => {
          const other = join(folder.path, "notes.txt");
          await writeFile(other, "Not a database, however long it is. ".repeat(100));
          return other;
        },
        "it is not a SQLite database (SQLITE_NOTADB)",
      ],
    ];
    // Root may write to folders of any mode, but nobody may write to /proc.
    if (process.platform === "linux") {
      const reason = "it does not exist and cannot be created there (ENOENT)";
      cases.push(["a file in /proc", () => Promise.resolve("/proc/moneta.sqlite"), reason]);
      cases.push(["a folder in /proc", () => Promise.resolve("/proc/moneta/data/moneta.sqlite"), reason]);
    }
    for (const [name, make, reason] of cases) {
      it(`says why for ${name}, and which setting to change`, async () => {
        const path = await make();
        const error = await failure(`file:${path}`);
        expect(error).to.be.instanceOf(DatabaseError);
        expect(error.message).to.equal(
          `Cannot open the database ${path}: ${reason}. Set DATA_DIR (or DATABASE_URL) to a place that this user may write to.`,
        );
      });
    }
  });

  describe("given another process that keeps the write lock", () => {
    // SQLite waits by itself, and blocks this process meanwhile: only the time is shorter here.
    const pragma = Object.getOwnPropertyDescriptor(BetterSqlite3.prototype, "pragma")?.value as Pragma;
    const timeouts: string[] = [];
    before(() => {
      BetterSqlite3.prototype.pragma = function (source, options) {
        if (!source.startsWith("busy_timeout")) return pragma.call(this, source, options);
        timeouts.push(source);
        return pragma.call(this, "busy_timeout = 100", options);
      };
    });
    after(() => {
      BetterSqlite3.prototype.pragma = pragma;
    });

    it("says so, and what to do, after the busy timeout", async () => {
      await (await openDatabase(`file:${file}`)).close();
      const other = new BetterSqlite3(file);
      other.exec("begin immediate");
      const error = await failure(`file:${file}`).finally(() => other.close());
      expect(new Set(timeouts)).to.deep.equal(new Set(["busy_timeout = 10000"]));
      expect(error).to.be.instanceOf(DatabaseUnavailable);
      expect(error.message).to.equal(
        `Another process has held the write lock of the database ${file} for more than 10 seconds. It may be paused, or ` +
          "a program such as the sqlite3 shell may have left a transaction open. Stop that process or wait until it " +
          "ends, then try again.",
      );
    });
  });
});
