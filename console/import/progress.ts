import { type BulkProgress, newProgress } from "../../client/bulk-progress.ts";
import type { FolderToken, Owner } from "../../client/drop/folder.ts";
import { parseExact } from "../../client/rules/exact-json.ts";

/*
 * What this browser remembers of imports, so that nothing is minted twice: how far each run is, and which tokens were sent. The
 * second is for corrected files: they are another run, which knows nothing of the first one.
 */

/** What a run has done so far. It is stored after each step, so that a reload of the page loses nothing. */
export interface Progress {
  version: number;
  startedAt: string;
  /** Its items are the tokens of the plan. The bulk mint of the client goes on with it. */
  minting: BulkProgress;
}

/** Tokens that a run has sent. */
interface SentTokens {
  run: string;
  at: string;
  tokens: string[];
}

/** The part of the browser's storage that is used here. */
export type Store = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** Its own properties are its keys. */
type StoreOfAll = Store & Record<string, unknown>;

const VERSION = 2;
const PREFIX = "moneta-import-";
/** The service keeps idempotency keys for a week at least. A run that is older cannot be continued safely. */
const KEEPS = 6 * 86_400_000;
/** Runs and tokens that are remembered, the newest ones. */
const [MOST_RUNS, MOST_TOKENS] = [20, 20_000];

/** @param id random. The idempotency keys of the run begin with it. */
export function newRun(id: string, tokens: number, now: Date): Progress {
  const minting = newProgress(`import-${id}`);
  minting.items = Array.from({ length: tokens }, () => ({ is: "waiting" }));
  return { version: VERSION, startedAt: now.toISOString(), minting };
}

/** The stored run of the same tokens; null when there is none. */
export function readProgress(store: Store, name: string, tokens: number, now: Date): Progress | null {
  const text = store.getItem(PREFIX + name);
  if (text === null) return null;
  const run = parseExact(text) as Progress;
  if (run.version === VERSION && run.minting.items.length === tokens && !isOld(run.startedAt, now)) return run;
  store.removeItem(PREFIX + name);
  return null;
}

/** Stores a run. @returns false when the browser has no room: the run then lasts only as long as the page. */
export function saveProgress(store: Store, name: string, progress: Progress): boolean {
  return save(store, PREFIX + name, progress);
}

function save(store: Store, key: string, value: unknown): boolean {
  try {
    store.setItem(key, JSON.stringify(value));
    return true;
  } catch (error) {
    if (error instanceof DOMException) return false;
    throw error;
  }
}

/** Names a token by all that it is minted with. Of a file, its size stands for its bytes: to read all pictures takes too long. */
export function nameOfToken(
  { tokenId, supply, owner, reference, unlockable, uri, metadata, files }: FolderToken,
  everybody: Owner | null,
  sizeOf: (file: string) => number | undefined,
): string {
  const sizes = Object.values(files).map(sizeOf);
  return nameOf([tokenId, supply, owner ?? everybody, reference, unlockable, uri, metadata, files, sizes]);
}

/** The same values have the same name: FNV-1a with 64 bits. `crypto.subtle` does not exist on pages without TLS. */
export function nameOf(values: readonly unknown[]): string {
  let [high, low] = [0xcbf29ce4, 0x84222325];
  for (const byte of new TextEncoder().encode(JSON.stringify(values))) {
    // Times 2^40 + 0x1b3, in two halves whose products are exact.
    const mixed = (low ^ byte) >>> 0;
    const product = mixed * 0x1b3;
    high = (high * 0x1b3 + Math.floor(product / 2 ** 32) + mixed * 2 ** 8) % 2 ** 32;
    low = product % 2 ** 32;
  }
  return [high, low].map((half) => half.toString(16).padStart(8, "0")).join("");
}

/** @param place names the app and the collection */
function sentKey(place: readonly string[]): string {
  return PREFIX + nameOf(["sent tokens", ...place]);
}

function readSent(store: Store, place: readonly string[], now: Date): SentTokens[] {
  const stored = JSON.parse(store.getItem(sentKey(place)) ?? "[]") as SentTokens[];
  return stored.filter(({ at }) => now.getTime() - Date.parse(at) <= KEEPS);
}

/** Remembers the tokens before they are sent. @returns false when the browser has no room */
export function rememberTokens(
  store: Store,
  place: readonly string[],
  { run, tokens }: { run: string; tokens: readonly string[] },
  now: Date,
): boolean {
  const others = readSent(store, place, now).filter((sent) => sent.run !== run);
  let left = MOST_TOKENS;
  const kept = [{ run, at: now.toISOString(), tokens }, ...others]
    .slice(0, MOST_RUNS)
    .filter(({ tokens: { length } }, index) => {
      left -= length;
      return index === 0 || left >= 0;
    });
  return save(store, sentKey(place), kept);
}

/** Tokens that another run has sent, each with the time of that run. */
export function sentBefore(
  store: Store,
  place: readonly string[],
  { run, tokens }: { run: string; tokens: readonly string[] },
  now: Date,
): Map<string, string> {
  const times = new Map<string, string>();
  for (const sent of readSent(store, place, now)) {
    if (sent.run !== run) for (const token of sent.tokens) times.set(token, sent.at);
  }
  return new Map(tokens.flatMap((token) => (times.has(token) ? [[token, times.get(token) ?? ""]] : [])));
}

/** When this browser has last imported with version 0.3.0 of the console; null: not within six days. Its runs name other rows. */
export function importOf030(store: StoreOfAll, now: Date): string | null {
  const recent = runsIn(store).filter(({ version, startedAt }) => version === 1 && !isOld(startedAt, now));
  return (
    recent
      .map(({ startedAt }) => startedAt)
      .sort()
      .at(-1) ?? null
  );
}

/** Makes room: removes the runs that cannot be continued any more. */
export function forgetOldRuns(store: StoreOfAll, now: Date): void {
  for (const { key, startedAt } of runsIn(store)) if (isOld(startedAt, now)) store.removeItem(key);
}

function runsIn(store: StoreOfAll): { key: string; version: number; startedAt: string }[] {
  return Object.keys(store).flatMap((key) => {
    if (!key.startsWith(PREFIX)) return [];
    const run = JSON.parse(store.getItem(key) ?? "{}") as Partial<Progress>;
    return run.version === undefined || run.startedAt === undefined
      ? []
      : [{ key, version: run.version, startedAt: run.startedAt }];
  });
}

function isOld(startedAt: string, now: Date): boolean {
  return now.getTime() - Date.parse(startedAt) > KEEPS;
}
