import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, symlink, truncate, unlink, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";

import { expect } from "chai";

import { TEST_ENGINE } from "../../support/engine.ts";
import { describeWithBackups } from "../../support/pg-bin.ts";
import { startTestService } from "../../support/service.ts";
import { contents } from "../support/contents.ts";
import { flipByte, IMAGE, reseal, useBackups } from "./support/backups.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { withDatabase } from "../../../scripts/scene/scene.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

const DATABASE_FILE = TEST_ENGINE === "sqlite" ? "moneta.sqlite" : "moneta.dump";

describeWithBackups("backup and restore", () => {
  const backups = useBackups();
  const { moneta } = backups;

  const rowsOf = async (url: string) => {
    const { counters, ...rows } = await withDatabase(url, contents);
    // The feeds are moved: see below.
    return { ...rows, counters: counters.filter(([key]) => !key.startsWith("events:")) };
  };

  describe("a backup of a running service", () => {
    it("has every part, readable by its owner only", async () => {
      const { folder, complete, backup } = backups.first;
      expect(complete).to.equal(true);
      expect((await readdir(folder)).sort()).to.deep.equal(
        ["31337.json", "blocks", "blocks.txt", "manifest.json", DATABASE_FILE].sort(),
      );
      for (const name of ["", "blocks"]) expect((await stat(join(folder, name))).mode & 0o777).to.equal(0o700);
      for (const name of [DATABASE_FILE, "manifest.json", "blocks.txt"]) {
        expect((await stat(join(folder, name))).mode & 0o777, name).to.equal(0o600);
      }
      expect(backup).to.include({ format: 1, engine: TEST_ENGINE });
      expect(backup.chain).to.include({ id: "31337" });
      expect(backup.media).to.deep.include({ store: "files", damaged: [] });
      expect(backup.media.list?.blocks).to.be.greaterThan(0);
      expect(backup.database.rows).to.include({ apps: 1, wallets: 1, nfts: 1 });
    });

    it("is refused in a folder that is not empty", async () => {
      const error = await rejectionOf(backups.backUp(backups.first.folder));
      expect(error.message).to.match(/is not empty: it has .*Use a new folder for each backup/);
    });

    it("is refused inside DATA_DIR, also through a link", async () => {
      const link = backups.newFolder();
      await mkdir(join(moneta.folder, "inside"));
      await symlink(join(moneta.folder, "inside"), link);
      for (const folder of [join(moneta.folder, "new"), moneta.folder, link]) {
        expect((await rejectionOf(backups.backUp(folder))).message).to.match(/is inside DATA_DIR/);
      }
    });

    it("is made once when two are started into the same folder", async () => {
      const folder = backups.newFolder();
      const both = await Promise.allSettled([backups.backUp(folder), backups.backUp(folder)]);
      expect(both.map(({ status }) => status).sort()).to.deep.equal(["fulfilled", "rejected"]);
      const place = await backups.place();
      await runCli(place.env, "restore", folder);
    });

    it("names blocks that the service has lost, and backs up everything else", async () => {
      const file = await backups.blockIn(moneta.folder);
      const bytes = await readFile(file);
      await unlink(file);
      try {
        const folder = backups.newFolder();
        const { failed, output } = await runCli(backups.env, "backup", folder);
        expect(failed).to.equal(true);
        expect(output).to.match(/Not in the backup:\n +The seed: SEED_FILE.*\n +SECRET_KEYS/);
        expect(output).to.match(/INCOMPLETE: the service itself does not have 1 block .*:\n {2}bafk/);
        const place = await backups.place();
        expect((await runCli(place.env, "restore", folder)).output).to.match(/lacks blocks of hosted media: bafk/);
      } finally {
        await writeFile(file, bytes);
      }
    });
  });

  describe("restore", () => {
    it("brings back every row and every block, and the service starts with them", async () => {
      const place = await backups.place();
      const { output } = await runCli(place.env, "restore", backups.first.folder);
      expect(output).to.match(/Next:\n(.*\n)+.*reconcile/);
      expect(await rowsOf(place.databaseUrl)).to.deep.equal(await rowsOf(moneta.databaseUrl));
      const deployment = await readFile(join(place.dataDir, "deployments", "31337.json"), "utf8");
      expect(JSON.parse(deployment)).to.deep.equal(moneta.service.contracts);
      const service = await startTestService({
        rpcUrl: moneta.node.url,
        dataDir: place.dataDir,
        env: { ...place.env, ROLES: "api" },
      });
      try {
        const answer = await fetch(`${service.baseUrl}/v1/accounts/${backups.wallet}`, {
          headers: { authorization: `Bearer ${moneta.app.token}` },
        });
        const text = await answer.text();
        expect(text).to.contain("secret");
        const [, cid = ""] = /ipfs:\/\/(bafk\w+)/.exec(text) ?? [];
        const media = await fetch(`${service.baseUrl}/ipfs/${cid}`);
        expect(await media.text()).to.equal(IMAGE.split(",")[1]);
      } finally {
        await service.stop();
      }
    });

    it("moves the event feeds past every cursor that was handed out after the backup", async () => {
      const newest = async (url: string) => {
        const { counters } = await withDatabase(url, contents);
        return counters.find(([key]) => key === `events:${moneta.app.appId}`)?.[1] ?? 0;
      };
      const place = await backups.place();
      await runCli(place.env, "restore", backups.first.folder);
      expect(await newest(place.databaseUrl)).to.equal((await newest(moneta.databaseUrl)) + 1_000_000);
    });

    it("ends the console's sessions, because some may have been revoked after the backup", async () => {
      const states = async (env: Record<string, string>) => {
        const listed = await jsonOfCli<{ state: string }[]>(env, "console", "list");
        return listed.map(({ state }) => state);
      };
      await runCli(backups.env, "console");
      const folder = backups.newFolder();
      await backups.backUp(folder);
      const place = await backups.place();
      await runCli(place.env, "restore", folder);
      expect([await states(backups.env), await states(place.env)]).to.deep.equal([["link"], ["revoked"]]);
    });

    it("refuses a database that is there, or a part of one", async () => {
      const place = await backups.place();
      await runCli(place.env, "restore", backups.first.folder);
      const error = await rejectionOf(runCli(place.env, "restore", backups.first.folder));
      expect(error.message).to.match(/There is a database already|is not empty/);
      if (TEST_ENGINE === "postgres") return;
      // SQLite would apply this log to the restored database.
      await rm(join(place.dataDir, "moneta.sqlite"));
      await writeFile(join(place.dataDir, "moneta.sqlite-wal"), "old");
      expect((await rejectionOf(runCli(place.env, "restore", backups.first.folder))).message).to.match(/sqlite-wal/);
    });

    it("refuses while something listens where the service would", async () => {
      const place = await backups.place();
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      const port = (server.address() as AddressInfo).port.toString();
      const error = await rejectionOf(runCli({ ...place.env, PORT: port }, "restore", backups.first.folder));
      server.close();
      expect(error.message).to.match(/A process listens on port \d+.*Stop every process/);
    });

    it("refuses a node of another chain, and says so when no node answers", async () => {
      const place = await backups.place();
      const other = await backups.copy();
      await reseal(other, (backup) => Object.assign(backup["chain"] as object, { id: "1" }));
      expect((await rejectionOf(runCli(place.env, "restore", other))).message).to.match(
        /belongs to chain 1, but the node at RPC_URL serves chain 31337/,
      );
      const { output } = await runCli({ ...place.env, RPC_URL: "http://127.0.0.1:9" }, "restore", backups.first.folder);
      expect(output).to.match(/The node at RPC_URL did not answer/);
    });

    it("refuses another engine and another place of media", async () => {
      const place = await backups.place();
      const url = TEST_ENGINE === "sqlite" ? "postgres://user@127.0.0.1:9/none" : `file:${place.dataDir}/x.sqlite`;
      const engine = runCli({ ...place.env, DATABASE_URL: url }, "restore", backups.first.folder);
      expect((await rejectionOf(engine)).message).to.match(/but DATABASE_URL names/);
      const media = runCli({ ...place.env, MEDIA_STORE: "database" }, "restore", backups.first.folder);
      expect((await rejectionOf(media)).message).to.match(/Set MEDIA_STORE=files/);
    });
  });

  describe("restore, given a damaged backup", () => {
    const part = (name: string, damage: (file: string) => Promise<unknown>) => (folder: string) =>
      damage(join(folder, name));
    const block = (damage: (file: string) => Promise<void>) => async (folder: string) =>
      damage(await backups.blockIn(folder));
    const manifest = (change: (backup: Record<string, unknown>) => void) => (folder: string) => reseal(folder, change);
    const link = async (file: string) => {
      await unlink(file);
      await symlink("/etc/passwd", file);
    };
    const rowsOf = (backup: Record<string, unknown>) => (backup["database"] as { rows: Record<string, number> }).rows;
    const damages: [name: string, damage: (folder: string) => Promise<unknown>, message: RegExp][] = [
      ["a changed byte in the database", part(DATABASE_FILE, flipByte), /damaged: moneta\.\w+ has another SHA-256/],
      [
        "a database that was cut",
        part(DATABASE_FILE, (file) => truncate(file, 1_000)),
        /damaged: moneta\.\w+ has 1000 bytes instead of/,
      ],
      ["no database", part(DATABASE_FILE, unlink), /damaged: moneta\.\w+ is missing/],
      ["a database that is a link to another file", part(DATABASE_FILE, link), /moneta\.\w+ is not a regular file/],
      ["a changed byte in a block", block(flipByte), /damaged: blocks: bafk\w+ is corrupt/],
      ["a missing block", block(unlink), /damaged: blocks: bafk\w+ is missing/],
      [
        "a list of blocks with another name",
        part("blocks.txt", (file) => writeFile(file, "../../etc/passwd\n")),
        /damaged: blocks.txt has \d+ bytes/,
      ],
      ["a changed deployment file", part("31337.json", flipByte), /damaged: 31337.json has another SHA-256/],
      ["a changed byte in the manifest", part("manifest.json", flipByte), /manifest.json is damaged/],
      [
        "a manifest that names a file outside of the folder",
        manifest((backup) => Object.assign(backup["deployment"] as object, { file: "../../../etc/passwd" })),
        /manifest.json is damaged/,
      ],
      [
        "other numbers of rows in the manifest",
        manifest((backup) => Object.assign(rowsOf(backup), { wallets: 7 })),
        /other rows .*wallets: 1 instead of 7/,
      ],
      [
        "a newer form",
        manifest((backup) => Object.assign(backup, { format: 2 })),
        /made by a newer version of Moneta \(format 2\)/,
      ],
      [
        "a newer schema",
        manifest((backup) => (backup["schema"] as string[]).push("9999-future")),
        /newer version of Moneta: this one does not know the schema 9999-future/,
      ],
    ];
    for (const [name, damage, message] of damages) {
      it(`is refused: ${name}`, async () => {
        const folder = await backups.copy();
        await damage(folder);
        const place = await backups.place();
        expect((await rejectionOf(runCli(place.env, "restore", folder))).message).to.match(message);
        if (TEST_ENGINE === "sqlite") {
          const left = existsSync(place.dataDir) ? await readdir(place.dataDir) : [];
          expect(left.filter((file) => file.startsWith("moneta"))).to.deep.equal([]);
        }
      });
    }
  });
});
