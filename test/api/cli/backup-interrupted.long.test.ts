import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { parseSettings } from "../../../api/config/settings.ts";
import { BlockFiles } from "../../../api/content/block-files.ts";
import { backUp } from "../../../api/operate/backup/back-up.ts";
import { collectMedia } from "../../../api/operate/media/collect.ts";
import { openDatabase } from "../../../api/store/db/database.ts";
import { eventually } from "../../support/eventually.ts";
import { describeOn, TEST_ENGINE } from "../../support/engine.ts";
import { backupSettings, describeWithBackups } from "../../support/pg-bin.ts";
import { TestProcess } from "../../support/process.ts";
import { IMAGE, useBackups } from "./support/backups.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

const CLI = "api/cli/main.ts";

describeWithBackups("a backup or restore that is interrupted", () => {
  const backups = useBackups();
  const { moneta } = backups;

  /** While `work` runs, whoever reads the block waits, because it is a pipe that nobody writes to. */
  const withSlowBlock = async (block: string, work: () => Promise<void>) => {
    await rename(block, `${block}.real`);
    execFileSync("mkfifo", [block]);
    try {
      await work();
    } finally {
      await rm(block);
      await rename(`${block}.real`, block);
    }
  };

  /** Runs a command until it has said that it copies media, and kills it there. */
  const killAtMedia = async (env: Record<string, string>, words: string[], said: RegExp) => {
    const command = new TestProcess([CLI, ...words], env);
    await command.printed(said);
    expect(await command.end("SIGKILL")).to.equal("SIGKILL");
  };

  it("leaves no backup when it is killed, and its folder is not used again", async () => {
    const folder = backups.newFolder();
    await withSlowBlock(await backups.blockIn(moneta.folder), () =>
      killAtMedia(backups.env, ["backup", folder], /Copying hosted media/),
    );
    expect(await readdir(folder))
      .to.include("UNFINISHED")
      .and.not.include("manifest.json");
    const place = await backups.place();
    expect((await rejectionOf(runCli(place.env, "restore", folder))).message).to.match(/is not a backup/);
    expect((await rejectionOf(backups.backUp(folder))).message).to.match(/has not ended, or was interrupted/);
    expect((await backups.backUp()).complete).to.equal(true);
  });

  it("leaves no database when a restore is killed, and the next one succeeds", async () => {
    const folder = await backups.copy();
    const place = await backups.place();
    await withSlowBlock(await backups.blockIn(folder), () =>
      killAtMedia(place.env, ["restore", folder], /Restoring hosted media/),
    );
    if (TEST_ENGINE === "sqlite") {
      const left = await readdir(place.dataDir);
      expect(left.filter((name) => name.startsWith("moneta.sqlite")).join()).to.match(/^moneta\.sqlite\.restoring-/);
    } else {
      const start = await rejectionOf(openDatabase(place.databaseUrl));
      expect(start.message).to.match(/A restore into this database has not ended/);
    }
    await runCli(place.env, "restore", folder);
    if (TEST_ENGINE === "sqlite") {
      expect((await readdir(place.dataDir)).filter((name) => name.includes("restoring"))).to.deep.equal([]);
    }
    await (await openDatabase(place.databaseUrl)).close();
  });

  /** Runs a command as on a full disk, with a limit for the size of files in blocks of 1,024 bytes. */
  const onFullDisk = async (env: Record<string, string>, words: string) => {
    const script = `ulimit -f 16; exec "${process.execPath}" ${CLI} ${words}`;
    const command = new TestProcess(["-c", script], env, "bash");
    expect(await command.gone()).to.equal(1);
    return command;
  };

  it("says that the disk is full, and leaves no backup", async () => {
    const folder = backups.newFolder();
    const command = await onFullDisk(backups.env, `backup "${folder}"`);
    expect(command.output).to.match(/could not be copied to|The backup was not finished: the file would be larger/);
    expect(command.output).to.not.match(/\n +at /);
    expect(existsSync(join(folder, "manifest.json"))).to.equal(false);
  });

  describeOn("sqlite", "on SQLite", () => {
    it("says that the disk is full when a restore meets that, and leaves no database", async () => {
      const place = await backups.place();
      const command = await onFullDisk(place.env, `restore "${backups.first.folder}"`);
      expect(command.output).to.match(/Nothing was restored: the file would be larger/);
      expect((await readdir(place.dataDir)).filter((name) => name.startsWith("moneta"))).to.deep.equal([]);
    });
  });

  describeOn("postgres", "on PostgreSQL, when its program failed after its commit", () => {
    /** A pg_restore that ends with an error when it has loaded everything, as when the connection is lost then. */
    async function failingPrograms(): Promise<string> {
      const real = backupSettings()["PG_BIN"] ?? "";
      const folder = backups.newFolder();
      await mkdir(folder);
      const command = real === "" ? "/usr/bin/env pg_restore" : join(real, "pg_restore");
      const script = `#!/bin/sh\n${command} "$@" || exit\ncase "$*" in *--dbname*) exit 1;; esac\n`;
      await writeFile(join(folder, "pg_restore"), script, { mode: 0o700 });
      return folder;
    }

    it("keeps the database closed until a backup is restored to the end", async () => {
      const place = await backups.place();
      const { folder } = backups.first;
      const failed = await rejectionOf(runCli({ ...place.env, PG_BIN: await failingPrograms() }, "restore", folder));
      expect(failed.message).to.match(/pg_restore failed/);
      expect((await rejectionOf(openDatabase(place.databaseUrl))).message).to.match(/A restore .* has not ended/);
      expect((await rejectionOf(runCli(place.env, "backup", backups.newFolder()))).message).to.match(/has not ended/);
      await runCli(place.env, "restore", folder);
      await (await openDatabase(place.databaseUrl)).close();
    });
  });

  it("has every block when media are collected between the copies", async () => {
    const { api } = moneta;
    const collection = await api.collection({ type: "ERC721" });
    const image = IMAGE.replace("/>", "><g/></svg>");
    const mint = { collection_address: collection, to_address: backups.wallet, image, copy_media: true };
    const { nft_token_id: id } = await api.completed("/v1/nfts", mint);
    const folder = backups.newFolder();
    const database = await openDatabase(moneta.databaseUrl);
    const blocks = new BlockFiles(join(moneta.folder, "blocks"));
    const steps: string[] = [];
    let collected: Promise<{ removed: number }> | null = null;
    try {
      const settings = parseSettings(backups.env);
      const collect = async () => {
        await api.ok("PATCH", `/v1/collections/${collection}/${String(id)}`, {
          image: "https://elsewhere.example/1.png",
        });
        return collectMedia({ database, blocks }, Infinity);
      };
      const report = async (step: string) => {
        steps.push(step);
        // The snapshot is taken; it names the image.
        if (step === "Copying hosted media") await (collected ??= collect());
      };
      const manifest = await backUp(
        { settings, programs: { folder: settings.pgBin, env: backups.env }, report },
        folder,
      );
      expect((await eventually(() => Promise.resolve(collected ?? undefined))).removed).to.equal(1);
      expect(manifest.media.damaged).to.deep.equal([]);
    } finally {
      await database.close();
    }
    expect(steps.filter((step) => step === "Copying the database")).to.have.length(2);
    const place = await backups.place();
    await jsonOfCli(place.env, "restore", folder);
  });
});
