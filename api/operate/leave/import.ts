import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

import { getAddress } from "ethers";
import { z } from "zod";

import { parseExact } from "../../../client/rules/exact-json.ts";
import type { ContractAddresses } from "../../chain/contracts.ts";
import { type AdoptDeps, adoptCollection } from "../../commands/adopt-collection.ts";
import { ADOPTED_AT_ONCE, adoptWallets } from "../../commands/adopt-wallets.ts";
import type { Limits } from "../../config/limits.ts";
import type { BlockStore } from "../../content/block-store.ts";
import type { TokenMetadata } from "../../domain/command.ts";
import { ApiError } from "../../domain/error-codes.ts";
import { inPages } from "../../shared/at-once.ts";
import { readRegular } from "../../shared/hashed-files.ts";
import { pause } from "../../shared/pause.ts";
import { findCollectionsOfApps } from "../../store/listings/collections.ts";
import { storeRescued, storeRescuedCollection, tokensNamed } from "../../store/requests/rescued-tokens.ts";
import { explainingDisk } from "../backup/copy-blocks.ts";
import { OperatorError } from "../operator-error.ts";
import { importMedia } from "./import-media.ts";
import { type ExportManifest, MEDIA_LIST, mediaRow, parts, readManifest } from "./manifest.ts";

interface ImportDeps extends AdoptDeps {
  settings: { limits: Limits };
  blocks: BlockStore;
  chain: { chainId: string; genesis: string; contracts: ContractAddresses };
  /** Says what is being done. */
  report: (step: string) => void;
  /** Seconds to wait until the service has read the collections. */
  wait: number;
}

export interface Imported extends Pick<Tally, "added" | "present" | "leftOut"> {
  /** Collections that the service still reads: then import again. */
  reading: string[];
}

/**
 * Brings an export into an app of another installation on the same chain. Users become watch-only wallets, contracts are adopted,
 * metadata and media are stored. The same import again adds what is missing.
 * @throws OperatorError when the export is damaged, or is from another chain.
 */
export function importApp(deps: ImportDeps, appId: string, from: string): Promise<Imported> {
  return explainingDisk("The import was not finished", async () => {
    const job = { ...deps, appId, folder: resolve(from), tally: new Tally() };
    const { files } = await checked(job);
    deps.report("Importing wallets");
    await importWallets(job);
    deps.report("Adopting collections");
    const adopted = await importCollections(job);
    deps.report("Importing media");
    await importAllMedia(job);
    const reading = await untilRead(job, adopted);
    deps.report("Storing metadata");
    await importMetadata(job, new Set(adopted.filter((address) => !reading.includes(address))));
    const { added, present } = job.tally;
    for (const name of ["requests.ndjson", "events.ndjson", "unlockable.ndjson"] as const)
      job.tally.leave(name, "It belongs to the other installation.", null, files[name]?.rows ?? 0);
    return { added, present, reading, leftOut: job.tally.leftOut };
  });
}

interface Job extends ImportDeps {
  appId: string;
  folder: string;
  tally: Tally;
}

/** Checks everything but the media, each of which is checked when it is stored. */
async function checked({ chain, folder, report }: Job): Promise<ExportManifest> {
  report("Checking the export");
  const manifest = await readManifest(folder);
  const { id, genesis } = manifest.chain;
  if (id !== chain.chainId || genesis !== chain.genesis)
    throw new OperatorError(
      `${folder} is from another chain (${id}). Its contracts are not on the chain of this service.`,
    );
  for (const [name, expected] of Object.entries(manifest.files)) await parts.requirePart(folder, name, expected);
  return manifest;
}

/** Lines that are read at once. */
const PAGE = 250;

/** The lines of a file. @throws OperatorError when a line has another form. */
async function* pagesOf<T>(folder: string, name: string, row: z.ZodType<T>, size = PAGE): AsyncGenerator<T[]> {
  const lines = createInterface({ input: Readable.from(readRegular(join(folder, name))) });
  for await (const page of inPages(lines, size)) {
    yield page.map((line) => {
      const parsed = row.safeParse(parseExact(line));
      if (parsed.success) return parsed.data;
      throw parts.damaged(folder, name, `has a line of another form: ${line.slice(0, 100)}`);
    });
  }
}

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => getAddress(text.toLowerCase()));
const metadata = z.record(z.string(), z.unknown()).nullable();
const walletRow = z.object({ user_identifier: z.string().nullable(), address });
const collectionRow = z.object({ address, metadata });
// Long ids are texts.
const tokenId = z.union([z.string(), z.int().transform(String)]);
const tokenRow = z.object({ contract_address: address, token_id: tokenId, metadata });

async function importWallets({ database, chain, appId, folder, tally }: Job): Promise<void> {
  const name = "wallets.ndjson";
  for await (const rows of pagesOf(folder, name, walletRow, ADOPTED_AT_ONCE)) {
    const users = rows.flatMap(({ user_identifier: user, address: at }) => {
      if (user === null) tally.leave(name, "A watch-only wallet needs a user.", at);
      return user === null ? [] : [{ user, address: at }];
    });
    const outcomes = await adoptWallets(database, chain.contracts, appId, users);
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome === "added" || outcome === "already_there")
        tally[outcome === "added" ? "added" : "present"].wallets += 1;
      else tally.leave(name, outcome, users[index]?.address ?? null);
    }
  }
}

/** @returns the collections that the app has adopted. */
async function importCollections(job: Job): Promise<string[]> {
  const { database, appId, folder, tally } = job;
  const adopted: string[] = [];
  for await (const rows of pagesOf(folder, "collections.ndjson", collectionRow)) {
    for (const { address: at, metadata: document } of rows) {
      const [earlier] = await findCollectionsOfApps(database.read, [{ appId, address: at }]);
      const order = { address: at, fromBlock: null };
      const stored = await unlessRefused(tally, "collections.ndjson", at, () =>
        adoptCollection(job, appId, order, null),
      );
      if (stored === null) continue;
      tally[earlier === undefined ? "added" : "present"].collections += 1;
      adopted.push(at);
      if (document !== null && Object.keys(stored.metadata).length === 0)
        await database.write((trx) => storeRescuedCollection(trx, at, JSON.stringify(document)));
    }
  }
  return adopted;
}

async function importAllMedia(job: Job): Promise<void> {
  const { appId, folder, tally } = job;
  for await (const rows of pagesOf(folder, MEDIA_LIST, mediaRow)) {
    for (const row of rows) {
      const done = await unlessRefused(tally, MEDIA_LIST, row.cid, () => importMedia(job, appId, { folder, row }));
      if (done === "lost") tally.leave(MEDIA_LIST, "The service that exported it had lost it.", row.cid);
      else if (done !== null) tally[done].media += 1;
    }
  }
}

/** Notes a refusal, such as one by a quota. @returns null then. */
async function unlessRefused<T>(tally: Tally, file: string, what: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    tally.leave(file, error.errors?.[0]?.message ?? error.message, what);
    return null;
  }
}

/** Milliseconds between two looks. */
const POLL = 500;

/** Waits until the service has read the collections. @returns those that it still reads at the end of the time. */
async function untilRead({ database, appId, wait, report }: Job, adopted: readonly string[]): Promise<string[]> {
  const end = performance.now() + wait * 1_000;
  for (let [reading, reported] = [[...adopted], -1]; ;) {
    const calls = reading.map((at) => ({ appId, address: at }));
    const found = await findCollectionsOfApps(database.read, calls);
    reading = reading.filter((_, index) => found[index]?.adoption?.state !== "followed");
    if (reading.length === 0 || performance.now() >= end) return reading;
    if (reading.length !== reported) report(`Collections that the service still reads: ${reading.length.toString()}`);
    reported = reading.length;
    await pause(POLL);
  }
}

/** Only where there is no metadata: it may have been changed since. */
async function importMetadata({ database, folder, tally }: Job, collections: ReadonlySet<string>): Promise<void> {
  for await (const page of pagesOf(folder, "tokens.ndjson", tokenRow)) {
    const known = page.filter(({ contract_address: at, metadata: own }) => own !== null && collections.has(at));
    for (const [contract, tokens] of Map.groupBy(known, (token) => token.contract_address)) {
      const documents = new Map(tokens.map(({ token_id: id, metadata: own }) => [id, own as TokenMetadata]));
      const [found, filled] = await database.write(async (trx) => {
        const rows = await tokensNamed(trx, contract, documents.keys());
        const empty = rows.filter((row) => row.metadata === null);
        const stored = empty.map(({ seq, token_id }) => {
          const document = documents.get(token_id) ?? {};
          return { seq, token_id, json: JSON.stringify(document), metadata: document };
        });
        await storeRescued(trx, contract, stored);
        return [rows.length, empty.length] as const;
      });
      tally.added.tokens += filled;
      tally.present.tokens += found - filled;
      tally.leave("tokens.ndjson", "The token does not exist any more.", contract, documents.size - found);
    }
  }
}

/** What was left out for one reason, with an example. */
interface LeftOut {
  file: string;
  why: string;
  count: number;
  example: string | null;
}

/** Counts what an import has done. There are few reasons to leave something out, so the list of them is short. */
class Tally {
  readonly added = { wallets: 0, collections: 0, media: 0, tokens: 0 };
  readonly present = { wallets: 0, collections: 0, media: 0, tokens: 0 };
  readonly #reasons = new Map<string, LeftOut>();

  leave(file: string, why: string, example: string | null, count = 1): void {
    const known = this.#reasons.get(`${file} ${why}`);
    if (known !== undefined) known.count += count;
    else if (count > 0) this.#reasons.set(`${file} ${why}`, { file, why, count, example });
  }

  get leftOut(): LeftOut[] {
    return [...this.#reasons.values()];
  }
}
