import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { openDatabase } from "../../../api/store/db/database.ts";
import { TEST_ENGINE } from "../../support/engine.ts";
import { backupSettings, describeWithBackups } from "../../support/pg-bin.ts";
import { useBackups } from "./support/backups.ts";
import { refusalOf } from "./support/refusal.ts";
import { runCli } from "./support/run.ts";

describeWithBackups("a restore whose program failed after its commit", () => {
  // On SQLite no other program takes part.
  if (TEST_ENGINE === "sqlite") return;
  const backups = useBackups();

  /** A pg_restore that ends with an error when it has loaded everything, as when the connection is lost then. */
  async function failingPrograms(): Promise<string> {
    const real = backupSettings()["PG_BIN"] ?? "";
    const folder = backups.newFolder();
    await mkdir(folder);
    const program = join(folder, "pg_restore");
    const command = real === "" ? "/usr/bin/env pg_restore" : join(real, "pg_restore");
    await writeFile(program, `#!/bin/sh\n${command} "$@" || exit\ncase "$*" in *--dbname*) exit 1;; esac\n`);
    await chmod(program, 0o700);
    return folder;
  }

  it("keeps the database closed until the same backup is restored again", async () => {
    const place = await backups.place();
    await backups.moneta.api.wallet();
    const other = await backups.backUp();
    const { folder } = backups.first;
    const failed = await refusalOf(runCli({ ...place.env, PG_BIN: await failingPrograms() }, "restore", folder));
    expect(failed.message).to.match(/pg_restore failed/);
    expect((await refusalOf(openDatabase(place.databaseUrl))).message).to.match(/A restore .* has not ended/);
    expect((await refusalOf(runCli(place.env, "backup", backups.newFolder()))).message).to.match(/has not ended/);
    expect((await refusalOf(runCli(place.env, "restore", other.folder))).message).to.match(
      /A restore of another backup into the database .* was interrupted/,
    );
    await runCli(place.env, "restore", folder);
    await (await openDatabase(place.databaseUrl)).close();
  });
});
