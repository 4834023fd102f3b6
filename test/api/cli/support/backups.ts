import { createHash } from "node:crypto";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Manifest } from "../../../../api/operate/backup/manifest.ts";
import { createTestDatabase } from "../../../support/database.ts";
import { TEST_ENGINE } from "../../../support/engine.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { backupSettings } from "../../../support/pg-bin.ts";
import type { OwnService } from "../../../support/own-service.ts";
import { useService } from "../../../support/use-service.ts";
import { jsonOfCli } from "./run.ts";

export const IMAGE = `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>`;

interface MadeBackup {
  folder: string;
  complete: boolean;
  backup: Manifest;
}

/** An empty place for a restore. */
interface Place {
  env: Record<string, string>;
  dataDir: string;
  databaseUrl: string;
}

/** Gives the tests of a `describe` block a running service with hosted media, and a backup of it. */
export function useBackups(): BackupFixture {
  // A backup has the whole database and all media, and tests restore it and damage it.
  const fixture = new BackupFixture(useService({ settings: backupSettings() }));
  before("make a backup", () => {
    return fixture.prepare();
  });
  afterEach("remove the places", () => fixture.removePlaces());
  return fixture;
}

class BackupFixture {
  readonly moneta: OwnService;
  made: MadeBackup | null = null;
  wallet = "";
  #cleanups: (() => Promise<void>)[] = [];
  #names = 0;

  constructor(moneta: OwnService) {
    this.moneta = moneta;
  }

  /** For `useBackups` only. */
  async prepare(): Promise<void> {
    const { api, folder } = this.moneta;
    this.wallet = await api.wallet();
    const collection = await api.collection({ type: "ERC721" });
    // To many programs U+2028 ends a line.
    const name = "One\u2028line\u2029only";
    const mint = { collection_address: collection, to_address: this.wallet, name, unlockable_content: "secret" };
    await api.completed("/v1/nfts", { ...mint, image: IMAGE, copy_media: true });
    await mkdir(join(folder, "deployments"));
    await writeFile(join(folder, "deployments", "31337.json"), `${JSON.stringify(this.moneta.service.contracts)}\n`);
    this.made = await this.backUp();
  }

  get first(): MadeBackup {
    if (this.made === null) throw new Error("there is no backup yet");
    return this.made;
  }

  /** The settings of the service, for the command line. */
  get env(): Record<string, string> {
    return { ...this.moneta.env, DEPLOYMENTS_DIR: join(this.moneta.folder, "deployments") };
  }

  /** A folder that does not exist, outside of the data folder. */
  newFolder(): string {
    return `${this.moneta.folder}-backup-${(++this.#names).toString()}`;
  }

  async backUp(to = this.newFolder()): Promise<MadeBackup> {
    return jsonOfCli<MadeBackup>(this.env, "backup", to);
  }

  /** The file of the picture's only block, in a data folder or in a backup. */
  async blockIn(folder: string): Promise<string> {
    const [cid = ""] = (await readFile(join(this.first.folder, "blocks.txt"), "utf8")).split("\n");
    return join(folder, "blocks", cid.slice(-3, -1), cid);
  }

  /** A copy of the first backup that a test may damage. */
  async copy(): Promise<string> {
    const folder = this.newFolder();
    await cp(this.first.folder, folder, { recursive: true });
    return folder;
  }

  async place(): Promise<Place> {
    const folder = await temporaryFolder();
    const dataDir = join(folder.path, "data");
    // The operator has put the keys back.
    for (const file of ["seed.jwe", "local-secrets.json"])
      await cp(join(this.moneta.folder, file), join(dataDir, file));
    const database =
      TEST_ENGINE === "postgres"
        ? await createTestDatabase({ schema: "none" })
        : { url: `file:${dataDir}/moneta.sqlite` };
    this.#cleanups.push(async () => {
      if ("remove" in database) await database.remove();
      await folder.remove();
    });
    const env = { DATA_DIR: dataDir, DATABASE_URL: database.url, DEPLOYMENTS_DIR: join(dataDir, "deployments") };
    return { env: { ...this.env, ...env }, dataDir, databaseUrl: database.url };
  }

  async removePlaces(): Promise<void> {
    for (const remove of this.#cleanups.splice(0)) await remove();
  }
}

/** Changes the manifest, and seals it again, as an attacker would who can write to the folder. */
export async function reseal(folder: string, change: (backup: Record<string, unknown>) => void): Promise<void> {
  const file = join(folder, "manifest.json");
  const { backup } = JSON.parse(await readFile(file, "utf8")) as { backup: Record<string, unknown> };
  change(backup);
  const sha256 = createHash("sha256").update(JSON.stringify(backup)).digest("hex");
  await writeFile(file, JSON.stringify({ backup, sha256 }));
}

/** Changes one byte in the middle of a file. */
export async function flipByte(file: string): Promise<void> {
  const bytes = await readFile(file);
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  await writeFile(file, bytes);
}
