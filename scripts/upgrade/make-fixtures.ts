import { execFile } from "node:child_process";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompressSync, constants, gunzipSync } from "node:zlib";

import BetterSqlite3 from "better-sqlite3";

import packageJson from "../../package.json" with { type: "json" };
import { pathOf } from "../../api/store/db/database.ts";
import type { Engine } from "../../api/store/db/sql.ts";
import { findPostgres } from "../postgres/programs.ts";
import { finishRequests } from "./finished.ts";
import { World, SEED_PHRASE, SETTINGS } from "./world.ts";
import { leaveUnderWay, type Unfinished } from "./under-way.ts";

/*
 * `npm run update -- fixtures`: makes the databases, and the chains that belong to them, from which the tests of later versions
 * upgrade. Run it once, when a version is finished. What a released version has left never changes.
 */

/** What a test must know of a fixture, beside its database and its chain. */
export interface Manifest {
  version: string;
  engine: Engine;
  /** When the last process was killed, in milliseconds since 1970. */
  madeAt: number;
  /** Unix time of the chain's block 0, in seconds. */
  chainBegan: number;
  /** Where the webhook receivers and the media were. */
  origin: string;
  seedPhrase: string;
  settings: Record<string, string>;
  apps: Record<string, { id: string; token: string }>;
  unfinished: Unfinished[];
}

const ROOT = join(import.meta.dirname, "..", "..", "test", "fixtures", packageJson.version);
const ENGINES: readonly Engine[] = ["sqlite", "postgres"];
const run = promisify(execFile);

async function make(engine: Engine): Promise<void> {
  const world = await World.open(engine);
  try {
    await world.start("api,relayer,indexer,webhooks,media,ipfs");
    const finished = await finishRequests(world);
    await world.killAll();
    const unfinished = await leaveUnderWay(world, finished);
    const { shop, press, closing } = finished;
    const manifest: Manifest = {
      version: packageJson.version,
      engine,
      madeAt: Date.now(),
      chainBegan: world.node.began,
      origin: world.outside.origin,
      seedPhrase: SEED_PHRASE,
      settings: SETTINGS,
      apps: Object.fromEntries([shop, press, closing].map(({ name, id, token }) => [name, { id, token }])),
      unfinished,
    };
    const folder = join(ROOT, engine);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    await save(folder, "chain.json.br", await chainOf(world));
    await save(folder, "reconcile.sqlite.br", await sqliteFile(join(world.folder, "reconcile", "chain.sqlite")));
    if (engine === "sqlite") await save(folder, "moneta.sqlite.br", await sqliteFile(pathOf(world.databaseUrl)));
    else await save(folder, "moneta.sql.br", await dump(world.databaseUrl));
  } finally {
    await world.close();
  }
}

async function save(folder: string, name: string, content: Buffer): Promise<void> {
  // The large window finds the code of a contract again wherever it is repeated.
  const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
  await writeFile(join(folder, name), brotliCompressSync(content, { params }));
  const { size } = await stat(join(folder, name));
  console.log(
    `${join(folder, name)}: ${Math.ceil(size / 1000).toString()} kB, unpacked ${Math.ceil(content.length / 1000).toString()} kB`,
  );
}

/** The blocks with their hashes and receipts, and the newest state. */
async function chainOf({ node }: World): Promise<Buffer> {
  const state = String(await node.provider.send("anvil_dumpState", []));
  return gunzipSync(Buffer.from(state.slice(2), "hex"));
}

/** The file after the write-ahead log of the killed processes was moved into it. */
async function sqliteFile(file: string): Promise<Buffer> {
  const database = new BetterSqlite3(file);
  database.pragma("wal_checkpoint(TRUNCATE)");
  database.close();
  return readFile(file);
}

/** Plain SQL that any PostgreSQL from the dumping version on loads, without `psql`. */
async function dump(url: string): Promise<Buffer> {
  const program = join(findPostgres("system").folder, "pg_dump");
  const options = ["--no-owner", "--no-privileges", "--inserts", "--rows-per-insert=100", url];
  const { stdout } = await run(program, options, { maxBuffer: 100_000_000 });
  // Lines with a backslash are commands of `psql`. A value of a row never begins a line: texts of rows have no line breaks.
  const lines = stdout.split("\n").filter((line) => !line.startsWith("\\"));
  return Buffer.from(lines.join("\n"));
}

const wanted = process.argv.slice(2);
for (const engine of ENGINES) if (wanted.length === 0 || wanted.includes(engine)) await make(engine);
