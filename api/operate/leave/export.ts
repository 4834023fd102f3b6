import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import packageJson from "../../../package.json" with { type: "json" };
import type { Settings } from "../../config/settings.ts";
import type { BlockStore } from "../../content/block-store.ts";
import { type Sealer, sealedPlace } from "../../keys/sealer.ts";
import { writeHashed } from "../../shared/hashed-files.ts";
import { syncFolder } from "../../shared/write-new-file.ts";
import type { Database } from "../../store/db/database.ts";
import { acceptsUnboundValues, checkpointOf } from "../../store/db/meta.ts";
import type { AppRow } from "../../store/db/schema.ts";
import type { Db } from "../../store/db/sql.ts";
import { exportUnlockable } from "../../store/listings/exports.ts";
import { explainingDisk } from "../backup/copy-blocks.ts";
import { endNewFolder, makeNewFolder } from "../new-folder.ts";
import { copyMediaOut } from "./export-media.ts";
import { type ExportManifest, FORMAT, MEDIA, MEDIA_LIST, ROW_FILES, UNLOCKABLE, writeManifest } from "./manifest.ts";
import { ROWS } from "./rows.ts";

interface ExportDeps {
  database: Database;
  blocks: BlockStore;
  /** Decrypts the unlockable content; null: it is only counted. */
  sealer: Sealer | null;
  chain: { chainId: string; genesis: string };
  settings: Pick<Settings, "dataDir" | "publicUrl">;
  /** Says what is being done. */
  report: (step: string) => void;
}

/**
 * Writes everything of an app into an empty folder, while the service runs: rows, and files. Never keys or secrets.
 *
 * Each file has the rows of one snapshot, as of the block that the manifest names. One snapshot for all of them would keep the log of
 * SQLite growing until the last one is written.
 * @throws OperatorError, SealError
 */
export async function exportApp(
  deps: ExportDeps,
  app: Pick<AppRow, "id" | "name">,
  to: string,
): Promise<ExportManifest> {
  const folder = await makeNewFolder(resolve(to), deps.settings, "export");
  return explainingDisk("The export was not finished", () => writeAll(deps, app, folder));
}

async function writeAll(deps: ExportDeps, app: Pick<AppRow, "id" | "name">, folder: string): Promise<ExportManifest> {
  const { database, sealer, blocks, settings, report } = deps;
  const { chainId, genesis } = deps.chain;
  const place = { publicUrl: settings.publicUrl, chainId: Number(chainId) };
  const files: ExportManifest["files"] = {};
  const write = async (db: Db, name: keyof typeof files, pages: AsyncIterable<object[]>) => {
    report(`Writing ${name}`);
    files[name] = { block: await checkpointOf(db), ...(await writeRows(join(folder, name), pages)) };
  };
  for (const name of ROW_FILES)
    await database.snapshot((db) => write(db, `${name}.ndjson`, ROWS[name]({ db, appId: app.id, place })));
  let [hidden, lost] = [0, 0];
  if (sealer !== null) await database.snapshot((db) => write(db, UNLOCKABLE, unlockable(db, app.id, sealer)));
  else for await (const rows of exportUnlockable(database.read, app.id)) hidden += rows.length;
  await mkdir(join(folder, MEDIA), { mode: 0o700 });
  const media = async function* () {
    for await (const rows of copyMediaOut(database.read, app.id, { blocks, folder })) {
      lost += rows.filter(({ file, blocks: kept }) => file === null && !kept).length;
      yield rows;
    }
  };
  // Without a snapshot: copying takes long, and the content of a CID never changes.
  await write(database.read, MEDIA_LIST, media());
  await syncFolder(join(folder, MEDIA));
  const manifest: ExportManifest = {
    ...{ format: FORMAT, moneta: packageJson.version, created_at: new Date().toISOString() },
    ...{ app: { id: app.id, name: app.name }, chain: { id: chainId, genesis }, public_url: settings.publicUrl },
    ...{ files, left_out: { unlockable: hidden, media: lost } },
  };
  await writeFile(join(folder, README), await readmeOf(manifest), { flag: "wx", mode: 0o600, flush: true });
  await endNewFolder(folder);
  await writeManifest(folder, manifest);
  return manifest;
}

const README = "README.md";

/** Says what each file is, and how to go on elsewhere. */
async function readmeOf({ app, chain, files, left_out: left, ...manifest }: ExportManifest): Promise<string> {
  const { moneta, created_at, public_url: url } = manifest;
  const [requests, events] = [files["requests.ndjson"]?.rows ?? 0, files["events.ndjson"]?.rows ?? 0];
  const values = {
    // The name is the app's own text.
    app: app.name.replace(/[\\`*_<>[\]|#\r\n]/g, " "),
    ...{ moneta, created_at, chain: chain.id, metadata_url: `${url}/metadata/${chain.id}` },
    ...{ ...left, requests, events },
  };
  const text = await readFile(new URL(README, import.meta.url), "utf8");
  return text.replace(/\{(\w+)\}/g, (_, key: keyof typeof values) => values[key].toString());
}

async function writeRows(file: string, pages: AsyncIterable<object[]>) {
  let rows = 0;
  const lines = async function* () {
    for await (const page of pages) {
      rows += page.length;
      yield Buffer.from(page.map((row) => `${JSON.stringify(row)}\n`).join(""));
    }
  };
  const digest = await writeHashed(file, lines());
  return { rows, ...digest };
}

async function* unlockable(db: Db, appId: string, sealer: Sealer): AsyncGenerator<object[]> {
  const accepted = await acceptsUnboundValues(db);
  for await (const page of exportUnlockable(db, appId)) {
    const rows = page.map(async ({ id, nft_collection, nft_token_id, unlockable: sealed }) => ({
      ...{ contract_address: nft_collection, token_id: nft_token_id, request_id: id },
      unlockable_content: await sealer.open(sealed, sealedPlace("unlockable", id), () => Promise.resolve(accepted)),
    }));
    yield await Promise.all(rows);
  }
}
