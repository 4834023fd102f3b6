import { once } from "node:events";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";

import { ChainClient } from "../../chain/client.ts";
import { ChainUnavailable } from "../../chain/errors.ts";
import type { Settings } from "../../config/settings.ts";
import { BlockFiles } from "../../content/block-files.ts";
import { isDamage } from "../../content/content.ts";
import { makeFolder } from "../../shared/folder.ts";
import { hashFile, readRegular } from "../../shared/hashed-files.ts";
import { writeNewFile } from "../../shared/write-new-file.ts";
import { databaseName, isPostgres } from "../../store/db/errors.ts";
import { unknownMigrations } from "../../store/db/migrate.ts";
import { OperatorError } from "../operator-error.ts";
import { explainingDisk } from "./copy-blocks.ts";
import {
  type Backup,
  BLOCK_LIST,
  BLOCKS,
  damaged,
  listedBlocks,
  type Manifest,
  readManifest,
  requirePart,
} from "./manifest.ts";
import type { PostgresPrograms } from "./postgres-programs.ts";
import { restorePostgres, restoreSqlite } from "./restore-database.ts";

type RestoreSettings = Pick<
  Settings,
  "databaseUrl" | "dataDir" | "deploymentsDir" | "mediaStore" | "rpcUrls" | "host" | "port" | "roles"
>;

interface RestoreDeps {
  settings: RestoreSettings;
  programs: PostgresPrograms;
  /** Says what is being done. */
  report: (step: string) => void;
}

export interface Restored {
  manifest: Manifest;
  /** Whether the node was asked for its chain. */
  chainChecked: boolean;
  /** The deployment file was there already, with other content. It was kept. */
  deploymentKept: boolean;
}

/**
 * Restores a backup into the places of the settings. They must be empty. The database appears last and all at once, so an
 * interrupted restore leaves no database, and can be run again.
 * @throws OperatorError, DatabaseError
 */
export async function restore(deps: RestoreDeps, from: string): Promise<Restored> {
  const { settings, programs, report } = deps;
  const folder = resolve(from);
  const manifest = await readManifest(folder);
  requireFitting(manifest, settings);
  await requireStopped(settings);
  const chainChecked = await checkChain(manifest, settings.rpcUrls);
  const backup = { folder, manifest };
  const blocksAndDeployment = async () => {
    await restoreBlocks(deps, backup);
    return restoreDeployment(deps, backup);
  };
  const deploymentKept = await explainingDisk("Nothing was restored", () =>
    manifest.engine === "sqlite"
      ? restoreSqlite(settings.databaseUrl, backup, report, blocksAndDeployment)
      : restorePostgres(settings.databaseUrl, backup, { programs, report }, blocksAndDeployment),
  );
  return { manifest, chainChecked, deploymentKept };
}

/** @throws OperatorError when this version, or these settings, are not for this backup. */
function requireFitting({ engine, schema, media }: Manifest, settings: RestoreSettings): void {
  const unknown = unknownMigrations(schema);
  if (unknown.length > 0) {
    throw new OperatorError(
      `The backup is from a newer version of Moneta: this one does not know the schema ${unknown.join(", ")}. Restore it with ` +
        "that version. Nothing was changed.",
    );
  }
  if ((engine === "postgres") !== isPostgres(settings.databaseUrl)) {
    const [has, change] =
      engine === "postgres"
        ? ["a PostgreSQL database", "to an empty PostgreSQL database"]
        : ["a SQLite database", "to file:<path>"];
    throw new OperatorError(
      `The backup has ${has}, but DATABASE_URL names ${databaseName(settings.databaseUrl)}. Set it ${change}; \`migrate-to\` can move ` +
        "the database to the other engine afterwards. Nothing was changed.",
    );
  }
  const place = settings.mediaStore.kind;
  const wanted = media.store?.startsWith("s3:") === true ? "s3" : media.store;
  if (wanted !== null && wanted !== place) {
    throw new OperatorError(
      `Hosted media of the backup are in ${media.store ?? ""}, but MEDIA_STORE says ${place}. Set MEDIA_STORE=${media.store ?? ""}. ` +
        "Nothing was changed.",
    );
  }
}

/** @throws OperatorError when something listens where the service would. */
async function requireStopped({ roles, host, port }: RestoreSettings): Promise<void> {
  if (!roles.includes("api") || port === 0) return;
  const everywhere: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
  const socket = connect({ host: everywhere[host] ?? host, port });
  const answers = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  if (!answers) return;
  throw new OperatorError(
    `A process listens on port ${port.toString()}, where the service would. Stop every process of the service first. Nothing was changed.`,
  );
}

/** @returns false when no node answers. @throws OperatorError when one serves another chain. */
async function checkChain({ chain }: Manifest, urls: readonly string[]): Promise<boolean> {
  if (chain === null) return true;
  const checked = await Promise.all(urls.map((url, index) => checkNode(chain, url, nameOf(url, index, urls.length))));
  return checked.includes(true);
}

function nameOf(url: string, index: number, count: number): string {
  return count === 1 ? "RPC_URL" : `RPC_URLS (node ${(index + 1).toString()}, ${new URL(url).host})`;
}

async function checkNode(chain: NonNullable<Manifest["chain"]>, url: string, name: string): Promise<boolean> {
  const client = new ChainClient(url);
  try {
    const id = (await client.chainId()).toString();
    const [block] = await client.blocks([0]);
    if (block == null || (id === chain.id && block.hash === chain.genesis)) return block != null;
    const other = id === chain.id ? `another chain with the same id` : `chain ${id}`;
    throw new OperatorError(
      `The backup belongs to chain ${chain.id}, but the node at ${name} serves ${other}. Set ${name} to a node of the backup's ` +
        "chain. Nothing was changed.",
    );
  } catch (error) {
    if (error instanceof ChainUnavailable) return false;
    throw error;
  }
}

/** Blocks that are there already are kept: the same name is the same content. */
async function restoreBlocks({ settings, report }: RestoreDeps, { folder, manifest }: Backup): Promise<void> {
  const { list } = manifest.media;
  if (list === null) return;
  report("Restoring hosted media");
  await requirePart(folder, BLOCK_LIST, list);
  const source = new BlockFiles(join(folder, BLOCKS));
  const target = new BlockFiles(join(settings.dataDir, BLOCKS));
  makeFolder(settings.dataDir);
  for await (const cid of listedBlocks(folder, list)) {
    try {
      await target.put(cid, await source.get(cid));
    } catch (error) {
      if (!isDamage(error)) throw error;
      throw damaged(folder, error.message.replace(/^block/, `${BLOCKS}:`), "");
    }
  }
}

/** @returns whether another file was there already. It is kept. */
async function restoreDeployment({ settings }: RestoreDeps, { folder, manifest }: Backup): Promise<boolean> {
  const { deployment } = manifest;
  if (deployment === null) return false;
  const { file } = deployment;
  await requirePart(folder, file, deployment);
  const target = join(settings.deploymentsDir, file);
  // Under its name the file is whole, also after an interruption.
  if (await writeNewFile(target, await text(readRegular(join(folder, file))))) return false;
  return (await hashFile(target)).sha256 !== deployment.sha256;
}
