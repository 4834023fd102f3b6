import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";

import {
  advance,
  type BulkFailure,
  type BulkItem,
  type BulkProgress,
  type BulkResult,
  type BulkStep,
  itemsIn,
  newProgress,
} from "../bulk-progress.ts";
import type { Shape } from "../client.ts";
import { parseExact } from "../rules/exact-json.ts";
import { DropStopped } from "./stopped.ts";

/** The file in the folder that says what a drop has done so far. */
export const JOURNAL = ".moneta-drop.jsonl";

export interface Start {
  entry: "start";
  version: 1;
  /** Random. The idempotency keys of the drop begin with it. */
  id: string;
  /** Checksum of everything that the drop depends on. */
  fingerprint: string;
  url: string;
  /** Who receives the tokens without an owner; empty: every token has an owner. */
  to: string;
}

interface Upload {
  entry: "upload";
  sha256: string;
  uri: string;
  at: number;
}

/** Steps of the bulk mint, as version 0.3.0 wrote them. */
type Earlier =
  | { entry: "batch"; key: string; tokens: number[]; body: { items: Shape<"Mint">[] }; at: number }
  | { entry: "results"; key: string; results: BulkResult[] }
  | { entry: "refused"; key: string; message: string }
  | { entry: "outcomes"; outcomes: EarlierOutcome[] }
  | { entry: "again"; tokens: number[] };
interface EarlierOutcome {
  token: number;
  status: "completed" | "failed" | "unknown";
  token_id: string | null;
  error: string | null;
}

/**
 * What a drop has done so far. Each entry is on disk before the next step begins. Who writes makes sure that no other process
 * does: see `locked`.
 */
export class Journal {
  /** The tokens are its items, in the order of the plan. The bulk mint of the client goes on with it. */
  readonly minting: BulkProgress;
  readonly uploads = new Map<string, Upload>();
  start: Start | null = null;
  readonly #folder: string;
  #handle: FileHandle | null = null;
  /** Of the whole lines in the file. */
  #bytes = 0;

  private constructor(folder: string, count: number) {
    this.#folder = folder;
    this.minting = newProgress("drop");
    this.minting.items = Array.from({ length: count }, () => ({ is: "waiting" }));
  }

  /** That of a drop that has not begun, whatever the folder has. */
  static none(folder: string, count: number): Journal {
    return new Journal(folder, count);
  }

  /** Reads what earlier runs have done. @param check refuses the start of another drop @throws DropStopped */
  static async read(folder: string, count: number, check?: (start: Start) => void): Promise<Journal> {
    const journal = new Journal(folder, count);
    const text = await textOf(folder);
    // A crash may leave a part of a line at the end. Nothing was done that depends on it.
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    journal.#bytes = new TextEncoder().encode(whole).length;
    const lines = whole.split("\n").filter((line) => line !== "");
    for (const [index, line] of lines.entries()) {
      try {
        journal.#apply(parseExact(line), index === 0);
      } catch (error) {
        throw new DropStopped(
          `Line ${(index + 1).toString()} of ${join(folder, JOURNAL)} is damaged, so it is not known what was minted. Restore the file from a copy. Without one, compare the folder with the collection, and drop only what is missing from a new folder.`,
          { cause: error },
        );
      }
      if (index === 0 && journal.start !== null) check?.(journal.start);
    }
    return journal;
  }

  /** Makes it ready for further entries. */
  async open(): Promise<void> {
    this.#handle = await openOwn(this.#folder, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
    await this.#handle.truncate(this.#bytes);
    await syncFolder(this.#folder);
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = null;
  }

  async begin(drop: Pick<Start, "fingerprint" | "url" | "to">): Promise<Start> {
    const start: Start = { entry: "start", version: 1, id: randomBytes(16).toString("hex"), ...drop };
    await this.write(start);
    this.#apply(start, true);
    return start;
  }

  async uploaded(file: Omit<Upload, "entry">): Promise<void> {
    const upload: Upload = { entry: "upload", ...file };
    await this.write(upload);
    this.uploads.set(file.sha256, upload);
  }

  /** Tokens that failed are minted again. */
  async again(items: number[]): Promise<void> {
    const step: BulkStep = { step: "again", items };
    await this.write(step);
    advance(this.minting, step);
  }

  async write(entry: Start | Upload | BulkStep): Promise<void> {
    if (this.#handle === null) throw new Error("The journal is not open.");
    await this.#handle.appendFile(`${JSON.stringify(entry)}\n`);
    await this.#handle.datasync();
  }

  /** Positions of the tokens in one of these states. */
  in(...states: BulkItem["is"][]): number[] {
    return itemsIn(this.minting, ...states);
  }

  get finished(): boolean {
    return this.in("waiting", "sent", "accepted").length === 0;
  }

  /** @throws when the value is not an entry of this drop */
  #apply(value: unknown, isFirst: boolean): void {
    const entry = value as Start | Upload | BulkStep | Earlier;
    if (("entry" in entry && entry.entry === "start") !== isFirst) throw new TypeError("A journal has one start.");
    if ("step" in entry) {
      this.#advance(entry);
    } else if (entry.entry === "start") {
      mustBeTexts(entry.id, entry.fingerprint, entry.url, entry.to);
      this.start = entry;
      this.minting.name = `drop-${entry.id}`;
    } else if (entry.entry === "upload") {
      mustBeTexts(entry.sha256, entry.uri);
      this.uploads.set(entry.sha256, entry);
    } else this.#advance(stepOf(entry, this.minting));
  }

  #advance(step: BulkStep): void {
    if (!STEPS.includes(step.step)) throw new TypeError("No such step.");
    const known = (index: number) => index in this.minting.items;
    const items = step.step === "settle" ? step.outcomes.map(({ index }) => index) : "items" in step ? step.items : [];
    if (!items.every(known)) throw new RangeError("The drop has no such token.");
    advance(this.minting, step);
  }
}

const STEPS: readonly string[] = ["send", "answer", "refuse", "settle", "again"] satisfies BulkStep["step"][];

function mustBeTexts(...values: unknown[]): void {
  if (!values.every((value) => typeof value === "string")) throw new TypeError("Must be texts.");
}

async function textOf(folder: string): Promise<string> {
  try {
    const handle = await openOwn(folder, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return "";
    throw error;
  }
}

/** A folder from others may have a link or a pipe in place of the journal. @throws DropStopped */
async function openOwn(folder: string, flags: number): Promise<FileHandle> {
  const path = join(folder, JOURNAL);
  const refusal = () => new DropStopped(`${path} is a link, or not a file. Delete it, and run the command again.`);
  const handle = await open(path, flags | constants.O_NOFOLLOW, 0o600).catch((error: unknown) => {
    throw (error as { code?: string }).code === "ELOOP" ? refusal() : error;
  });
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw refusal();
}

/** Otherwise a power cut may lose the name of the new file. Windows cannot open folders and does not need this. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function stepOf(entry: Earlier, minting: BulkProgress): BulkStep {
  switch (entry.entry) {
    case "batch":
      return { step: "send", key: entry.key, items: entry.tokens, bodies: entry.body.items, at: entry.at };
    case "results":
      return { step: "answer", key: entry.key, results: entry.results };
    case "refused":
      return { step: "refuse", key: entry.key, failure: failureOf(entry.message) };
    case "outcomes":
      return {
        step: "settle",
        outcomes: entry.outcomes.flatMap((one) => {
          const item = minting.items[one.token];
          return item?.is === "accepted" ? [{ index: one.token, outcome: outcomeOf(one, item.requestId) }] : [];
        }),
      };
    case "again":
      return { step: "again", items: entry.tokens };
    default:
      throw new TypeError("No such entry.");
  }
}

function outcomeOf({ status, token_id: tokenId, error }: EarlierOutcome, requestId: string): BulkItem {
  if (status === "completed") return { is: status, requestId, tokenId };
  return status === "unknown" ? { is: status, requestId } : { is: "failed", requestId, ...failureOf(error ?? "") };
}

/** Version 0.3.0 wrote the whole reason as a sentence. */
function failureOf(message: string): BulkFailure {
  return { code: null, message, errors: [], status: null };
}
