import { opendir } from "node:fs/promises";
import { join, resolve } from "node:path";

import { getAddress, ZeroAddress } from "ethers";
import { z } from "zod";

import { parseExact } from "../../../client/rules/exact-json.ts";
import { faultOf, hasControls, isStorable } from "../../../client/rules/storable.ts";
import type { ContractAddresses } from "../../chain/contracts.ts";
import { type AdoptDeps, adoptCollection, isRead, untilRead } from "../../commands/adopt-collection.ts";
import { ADOPTED_AT_ONCE, adoptWallets } from "../../commands/adopt-wallets.ts";
import {
  type Limits,
  MAX_JSON_DEPTH,
  MAX_METADATA_BYTES,
  MAX_USER_IDENTIFIER_LENGTH,
  UPLOADS,
} from "../../config/limits.ts";
import type { BlockStore } from "../../content/block-store.ts";
import type { TokenMetadata } from "../../domain/command.ts";
import { ApiError } from "../../domain/error-codes.ts";
import { forEachAtOnce, inPages } from "../../shared/at-once.ts";
import { readRegular } from "../../shared/hashed-files.ts";
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
    deps.report("Waiting until the service has read the collections");
    const calls = adopted.map((address) => ({ appId, address }));
    const found = await untilRead(deps.database.read, calls, deps.wait, () => undefined);
    const read = new Set(found.filter(isRead).map(({ address }) => address));
    deps.report("Storing metadata");
    await importMetadata(job, read);
    const reading = adopted.filter((address) => !read.has(address));
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
  for (const name of READ) if (manifest.files[name] === undefined) throw parts.damaged(folder, name, "is missing");
  // Others may have made the folder. What a link or a pipe names is not a part of it.
  for await (const entry of await opendir(folder, { recursive: true }))
    if (!entry.isFile() && !entry.isDirectory()) throw parts.damaged(folder, entry.name, "is not a regular file");
  return manifest;
}

/** The files whose rows are brought in. */
const READ = ["wallets.ndjson", "collections.ndjson", "tokens.ndjson", MEDIA_LIST] as const;
/** Lines that are read at once, and characters of the longest one. */
const [PAGE, LONGEST] = [250, 1_048_576];

/** The rows of a file. @throws OperatorError when a line has another form. */
async function* pagesOf<T>(
  folder: string,
  name: (typeof READ)[number],
  row: z.ZodType<T>,
  size = PAGE,
): AsyncGenerator<T[]> {
  const rowOf = (line: string) => {
    try {
      return row.parse(parseExact(line));
    } catch {
      throw parts.damaged(folder, name, `has a line of another form: ${line.slice(0, 100)}`);
    }
  };
  for await (const page of inPages(linesOf(join(folder, name)), size)) yield page.map(rowOf);
}

/** A line that is too long comes in parts, which have another form. */
async function* linesOf(file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of readRegular(file)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
    if (rest.length <= LONGEST) continue;
    yield rest;
    rest = "";
  }
  if (rest !== "") yield rest;
}

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .refine((text) => text !== ZeroAddress)
  .transform((text) => getAddress(text.toLowerCase()));
// Every field as it is.
const metadata = z.record(z.string(), z.unknown()).nullable();
const walletRow = z.object({ user_identifier: z.string().nullable(), address });
const collectionRow = z.object({ address, metadata });
// Long ids are texts.
const tokenId = z.union([z.string().regex(/^\d{1,78}$/), z.int().nonnegative().transform(String)]);
const tokenRow = z.object({ contract_address: address, token_id: tokenId, metadata });

async function importWallets({ database, chain, appId, folder, tally }: Job): Promise<void> {
  const name = "wallets.ndjson";
  for await (const rows of pagesOf(folder, name, walletRow, ADOPTED_AT_ONCE)) {
    const users = rows.flatMap(({ user_identifier: user, address: at }) => {
      if (user !== null && isName(user)) return [{ user, address: at }];
      tally.leave(name, user === null ? "A watch-only wallet needs a user." : "No user may have this name.", at);
      return [];
    });
    const outcomes = await adoptWallets(database, chain.contracts, appId, users);
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome === "added" || outcome === "already_there")
        tally[outcome === "added" ? "added" : "present"].wallets += 1;
      else tally.leave(name, outcome, users[index]?.address ?? null);
    }
  }
}

const UNSERVABLE = "Its metadata is above the limits of the service.";

/** @returns JSON; null when it cannot be stored and served. */
function servable(document: object): string | null {
  if (faultOf(document, MAX_JSON_DEPTH) !== null) return null;
  const json = JSON.stringify(document);
  return Buffer.byteLength(json) > MAX_METADATA_BYTES ? null : json;
}

/** By the rules of `POST /v1/accounts`. */
function isName(user: string): boolean {
  const isText = isStorable(user) && !hasControls(user) && !/^\.{0,2}$/.test(user);
  return isText && Array.from(user).length <= MAX_USER_IDENTIFIER_LENGTH;
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
      if (document === null || Object.keys(stored.metadata).length > 0) continue;
      const json = servable(document);
      if (json === null) tally.leave("collections.ndjson", UNSERVABLE, at);
      else await database.write((trx) => storeRescuedCollection(trx, at, json));
    }
  }
  return adopted;
}

async function importAllMedia(job: Job): Promise<void> {
  const { appId, folder, tally } = job;
  for await (const rows of pagesOf(folder, MEDIA_LIST, mediaRow)) {
    await forEachAtOnce(rows, UPLOADS.ofApp, async (row) => {
      const done = await unlessRefused(tally, MEDIA_LIST, row.cid, () => importMedia(job, appId, { folder, row }));
      if (done === "lost") tally.leave(MEDIA_LIST, "The service that exported it had lost it.", row.cid);
      else if (done !== null) tally[done].media += 1;
    });
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

/** Only where there is no metadata: it may have been changed since. */
async function importMetadata({ database, folder, tally }: Job, collections: ReadonlySet<string>): Promise<void> {
  for await (const page of pagesOf(folder, "tokens.ndjson", tokenRow)) {
    const known = page.filter(({ contract_address: at, metadata: own }) => own !== null && collections.has(at));
    for (const [contract, tokens] of Map.groupBy(known, (token) => token.contract_address)) {
      const documents = new Map(tokens.map(({ token_id: id, metadata: own }) => [id, own as TokenMetadata]));
      for (const [id, document] of documents) {
        if (servable(document) !== null) continue;
        tally.leave("tokens.ndjson", UNSERVABLE, `${contract} ${id}`);
        documents.delete(id);
      }
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
