import { createHash } from "node:crypto";
import { join } from "node:path";

import type { BulkItem, BulkWarning } from "../bulk-progress.ts";
import { usersOf } from "../drop/receivers.ts";
import { checkArrivals } from "../drop/arrivals.ts";
import type { Owner } from "../drop/folder.ts";
import { REPORT } from "../drop/layout.ts";
import { lackOfRoom, makePlan, type Plan, type Target, wordsOf } from "../drop/plan.ts";
import { NEW_METADATA } from "../drop/values.ts";
import { type DropChecks, type DropToken, type MediaFile, readDropFolder } from "./files.ts";
import { Journal, JOURNAL } from "./journal.ts";
import { locked } from "./lock.ts";
import { writeReport, writeTokenIds } from "./report.ts";
import { mintAll } from "./run.ts";
import { DropService } from "./service.ts";
import { DropStopped } from "./stopped.ts";

/** Which folder is minted, where, and for whom. */
export interface DropOptions extends DropChecks {
  folder: string;
  /** URL of the service, without `/v1`. */
  url: string;
  /** A token of the app, with the scopes `read`, `media` and `mint`; and `accounts`, when wallets are made. */
  token: string;
  /** Address of a hosted collection of the app. */
  collection: string;
  /** Who gets the tokens without an owner. */
  to?: Owner | null;
  /** ERC1155: copies of each token whose row does not say another number. */
  supply?: string | null;
  /** Have the service copy what the metadata names by `http`, `https` or `ipfs`. */
  copyMedia?: boolean;
  /** Ends the drop. It can be continued. */
  signal?: AbortSignal;
  /** Gets a sentence when the drop waits for the service. */
  remark?: (sentence: string) => void;
}

/** What a run may do beyond its first try. */
export interface RunOptions extends DropOptions {
  /** Mint the tokens that failed again, after the drop has ended. */
  retryFailed?: boolean;
  /** Send batches again whose answer was lost more than six days ago, although the service may have forgotten their keys. */
  sendOldBatches?: boolean;
  /** Shows how far a step is. */
  show?: (step: string, done: number, all: number) => void;
}

/** What a folder becomes, and how far that is. */
export interface Drop {
  /** With problems, nothing is sent. */
  plan: DropPlan;
  /** What became of each token of the plan. */
  items: readonly BulkItem[];
  /** What the service warned of when it accepted tokens. The items are those of the plan. */
  warnings: readonly BulkWarning[];
  /** Whether this run or an earlier one has sent something. */
  begun: boolean;
  /** Whether an earlier run has ended it, so that this one sent nothing. */
  finishedBefore: boolean;
  /** The path of the report; null: the folder was only checked. */
  report: string | null;
  /** The path of the table of old and new ids; null: the folder was only checked, or says no ids that the contract does not keep. */
  tokenIds: string | null;
}

/** A plan whose files were read. */
export interface DropPlan extends Plan<DropToken> {
  /** The files to upload, each once. */
  uploads: readonly MediaFile[];
}

/**
 * Checks the folder against the collection and the users of the app. Sends nothing.
 * @throws {DropStopped} when the service, the folder or the collection cannot be used at all
 * @example
 * const { plan } = await checkDrop(options);
 * for (const { source, message } of plan.problems) console.error(`${source}: ${message}`);
 */
export async function checkDrop(options: DropOptions): Promise<Drop> {
  const service = new DropService(options);
  const plan = await planOf(options, service);
  // A folder with problems cannot be compared with the one of an earlier run.
  const journal =
    plan.problems.length > 0 ? Journal.none(options.folder, plan.tokens.length) : await journalOf(options, plan);
  await checkBefore(plan, journal, service);
  return checked(plan, journal);
}

/**
 * Checks the folder, uploads its files, mints its tokens and waits until each is final. A run that was interrupted is continued
 * by the same call: nothing is minted twice. One process at a time may drop a folder.
 * @returns the drop; when its plan has problems, nothing was sent
 * @throws {DropStopped} when it cannot go on
 * @example
 * const { plan, items } = await runDrop({ ...options, to: { user: "alice" } });
 * console.log(`${items.filter(({ is }) => is === "completed").length} of ${plan.tokens.length} tokens are minted.`);
 */
export async function runDrop(options: RunOptions): Promise<Drop> {
  const { folder } = options;
  const service = new DropService(options);
  const plan = await planOf(options, service);
  if (plan.problems.length > 0) return checked(plan, Journal.none(folder, plan.tokens.length));
  return locked(folder, async () => {
    const journal = await journalOf(options, plan);
    await checkBefore(plan, journal, service);
    if (plan.problems.length > 0) return checked(plan, journal);
    const { items } = journal.minting;
    const again = options.retryFailed === true ? journal.in("failed") : [];
    let tokenIds: string | null = null;
    const finishedBefore = journal.finished && again.length === 0;
    try {
      if (!finishedBefore) {
        await journal.open();
        if (again.length > 0) await journal.again(again);
        await mintAll({ ...options, plan, journal, service, fingerprint: fingerprintsOf(plan)[0] });
      }
    } finally {
      await journal.close();
      await writeReport(folder, plan.tokens, items);
      tokenIds = await writeTokenIds(folder, plan.tokens, items);
    }
    const { warnings = [] } = journal.minting;
    return { plan, items, warnings, begun: true, finishedBefore, report: join(folder, REPORT), tokenIds };
  });
}

function checked(plan: DropPlan, journal: Journal): Drop {
  const begun = journal.start !== null;
  const { items, warnings = [] } = journal.minting;
  return { plan, items, warnings, begun, finishedBefore: false, report: null, tokenIds: null };
}

async function planOf(options: DropOptions, service: DropService): Promise<DropPlan> {
  const { folder, supply = null, to = null, copyMedia = false } = options;
  const collection = await service.collection(options.collection);
  if (collection === null) {
    throw new DropStopped(
      `The app of the token has no collection ${options.collection}. List them with GET /v1/collections.`,
    );
  }
  if (collection.hosting !== "hosted") {
    throw new DropStopped(`The collection ${collection.address} is self-hosted: Moneta does not store its metadata.`);
  }
  if (supply !== null && collection.type === "ERC721") {
    throw new DropStopped("--supply is for ERC1155 collections only: an ERC721 token has no copies.");
  }
  const contents = await readDropFolder(folder, collection.type, options);
  // The other problems may be the reason.
  if (contents.problems.length === 0 && to === null && contents.tokens.every(({ owner }) => owner === null)) {
    throw new DropStopped(
      "Say who gets the tokens: --to ADDRESS or --user IDENTIFIER for all, or the column owner in metadata.csv.",
    );
  }
  const users = await service.users(usersOf(contents.tokens, to));
  const plan = makePlan(contents, { collection, supply, to, copyMedia }, users);
  const files = plan.tokens.flatMap(({ media }) => Object.values<MediaFile>(media));
  return { ...plan, uploads: [...new Map(files.map((file) => [file.sha256, file])).values()] };
}

/** What earlier runs have done. @throws DropStopped when they had another folder, collection, receiver or service */
function journalOf({ folder, url }: DropOptions, plan: DropPlan): Promise<Journal> {
  return Journal.read(folder, plan.tokens.length, (start) => {
    if (!fingerprintsOf(plan).includes(start.fingerprint)) {
      throw new DropStopped(
        `${folder} was changed after its drop began, or the collection or the receiver is another one. Undo the change and run again. Put new tokens into a new folder. What was done so far is in ${JOURNAL}; without that file everything is minted a second time.`,
      );
    }
    if (start.url !== url) {
      throw new DropStopped(`The drop of ${folder} began with --url ${start.url}. Continue it with the same URL.`);
    }
  });
}

/** Only before anything was sent: later, `minted` counts tokens of this drop, and its batches are what they are. */
async function checkBefore(plan: DropPlan, { start }: Journal, service: DropService): Promise<void> {
  if (plan.problems.length > 0 || start !== null) return;
  const message = lackOfRoom(plan.collection, plan.tokens.length);
  if (message !== null) plan.problems.push({ source: "collection", message });
  const { address } = plan.collection;
  const { problems, note } = await checkArrivals(plan, (addresses) => service.receivers(address, addresses));
  plan.problems.push(...problems);
  if (note !== null) plan.notes.push(note);
}

/** Of everything that the drop depends on: the checksum of this version first, then that of version 0.3.0. */
export function fingerprintsOf(plan: Plan<DropToken>): [string, string] {
  const earlier = plan.tokens.map((token) => ({
    ...token,
    metadata: Object.fromEntries(Object.entries(token.metadata).filter(([field]) => !NEW_METADATA.includes(field))),
  }));
  // Version 0.3.0 left these fields out, and rounded large numbers.
  return [checksum(wordsOfDrop(plan, plan.tokens)), checksum(JSON.stringify(JSON.parse(wordsOfDrop(plan, earlier))))];
}

/** Does not depend on the order of the keys of a JSON file, only on what is minted. */
function wordsOfDrop({ collection, to, copyMedia }: Target, tokens: readonly DropToken[]): string {
  const parts = tokens.map(
    ({ source, earlierSource, tokenId, supply, metadata, media, owner, reference, unlockable, uri }) => [
      earlierSource ?? source,
      tokenId,
      supply,
      Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1)),
      media.image?.sha256 ?? null,
      media.animation_url?.sha256 ?? null,
      // Left out otherwise, so that a drop of a version without them can be continued.
      ...(owner === null && reference === null && unlockable === null ? [] : [owner, reference]),
      ...(unlockable === null ? [] : [unlockable]),
      ...(uri === undefined ? [] : [{ uri }]),
    ],
  );
  return JSON.stringify([collection.address, wordsOf(to), parts, ...(copyMedia ? ["copy media"] : [])]);
}

function checksum(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
