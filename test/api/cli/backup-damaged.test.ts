import { existsSync } from "node:fs";
import { readdir, readFile, symlink, truncate, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { TEST_ENGINE } from "../../support/engine.ts";
import { describeWithBackups } from "../../support/pg-bin.ts";
import { flipByte, reseal, useBackups } from "./support/backups.ts";
import { refusalOf } from "../../support/refusal.ts";
import { runCli } from "./support/run.ts";

const DATABASE_FILE = TEST_ENGINE === "sqlite" ? "moneta.sqlite" : "moneta.dump";

describeWithBackups("a damaged backup", () => {
  const backups = useBackups();

  const damages: { name: string; damage: (folder: string) => Promise<void>; message: RegExp }[] = [
    {
      name: "a changed byte in the database",
      damage: (folder) => flipByte(join(folder, DATABASE_FILE)),
      message: /damaged: moneta\.\w+ has another SHA-256/,
    },
    {
      name: "a database that was cut",
      damage: (folder) => truncate(join(folder, DATABASE_FILE), 1_000),
      message: /damaged: moneta\.\w+ has 1000 bytes instead of/,
    },
    {
      name: "no database",
      damage: (folder) => unlink(join(folder, DATABASE_FILE)),
      message: /damaged: moneta\.\w+ is missing/,
    },
    {
      name: "a database that is a link to another file",
      damage: async (folder) => {
        await unlink(join(folder, DATABASE_FILE));
        await symlink("/etc/passwd", join(folder, DATABASE_FILE));
      },
      message: /damaged: moneta\.\w+ is not a regular file/,
    },
    {
      name: "a changed byte in a block",
      damage: async (folder) => flipByte(await backups.blockIn(folder)),
      message: /damaged: blocks: bafk\w+ is corrupt/,
    },
    {
      name: "a missing block",
      damage: async (folder) => unlink(await backups.blockIn(folder)),
      message: /damaged: blocks: bafk\w+ is missing/,
    },
    {
      name: "a list of blocks with another name",
      damage: (folder) => writeFile(join(folder, "blocks.txt"), "../../etc/passwd\n"),
      message: /damaged: blocks.txt has \d+ bytes/,
    },
    {
      name: "a changed deployment file",
      damage: async (folder) => {
        const file = join(folder, "31337.json");
        await writeFile(file, (await readFile(file, "utf8")).replace("{", "["));
      },
      message: /damaged: 31337.json has another SHA-256/,
    },
    {
      name: "a manifest that was cut",
      damage: (folder) => truncate(join(folder, "manifest.json"), 100),
      message: /manifest.json is damaged/,
    },
    {
      name: "a changed byte in the manifest",
      damage: (folder) => flipByte(join(folder, "manifest.json")),
      message: /manifest.json is damaged/,
    },
    {
      name: "no manifest",
      damage: (folder) => unlink(join(folder, "manifest.json")),
      message: /is not a backup: it has no manifest.json/,
    },
    {
      name: "a manifest that names a file outside of the folder",
      damage: (folder) =>
        reseal(folder, (backup) => Object.assign(backup["deployment"] as object, { file: "../../../etc/passwd" })),
      message: /manifest.json is damaged/,
    },
    {
      name: "other numbers of rows in the manifest",
      damage: (folder) =>
        reseal(folder, (backup) => {
          (backup["database"] as { rows: Record<string, number> }).rows["wallets"] = 7;
        }),
      message: /other rows .*wallets: 1 instead of 7/,
    },
    {
      name: "a newer form",
      damage: (folder) => reseal(folder, (backup) => Object.assign(backup, { format: 2 })),
      message: /made by a newer version of Moneta \(format 2\)/,
    },
    {
      name: "a newer schema",
      damage: (folder) => reseal(folder, (backup) => (backup["schema"] as string[]).push("9999-future")),
      message: /newer version of Moneta: this one does not know the schema 9999-future/,
    },
  ];
  for (const { name, damage, message } of damages) {
    it(`is refused: ${name}`, async () => {
      const folder = await backups.copy();
      await damage(folder);
      const place = await backups.place();
      expect((await refusalOf(runCli(place.env, "restore", folder))).message).to.match(message);
      if (TEST_ENGINE === "sqlite") {
        const left = existsSync(place.dataDir) ? await readdir(place.dataDir) : [];
        expect(left.filter((file) => file.startsWith("moneta"))).to.deep.equal([]);
      }
    });
  }
});
