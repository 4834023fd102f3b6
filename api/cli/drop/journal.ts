import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";

import { z } from "zod";

import type { Shape } from "../../../client/client.ts";
import { parseExact } from "../../../client/rules/exact-json.ts";
import { OperatorError } from "../../operate/operator-error.ts";
import { syncFolder } from "../../shared/write-new-file.ts";

/** The file in the folder that says what a drop has done so far. */
export const JOURNAL = ".moneta-drop.jsonl";

const start = z.object({
  entry: z.literal("start"),
  version: z.literal(1),
  /** Random. The idempotency keys of the drop begin with it. */
  id: z.string(),
  /** Checksum of everything that the drop depends on. */
  fingerprint: z.string(),
  url: z.string(),
  /** Who receives the tokens without an owner; empty: every token has an owner. */
  to: z.string(),
});
const upload = z.object({ entry: z.literal("upload"), sha256: z.string(), uri: z.string(), at: z.number() });
/** Written before the batch is sent. */
const batch = z.object({
  entry: z.literal("batch"),
  key: z.string(),
  /** Positions of its tokens in the plan. */
  tokens: z.array(z.number()),
  body: z.object({ items: z.array(z.custom<Shape<"Mint">>((value) => typeof value === "object" && value !== null)) }),
  at: z.number(),
});
const result = z.object({
  request_id: z.string().optional(),
  error_code: z.string().optional(),
  message: z.string().optional(),
});
const results = z.object({ entry: z.literal("results"), key: z.string(), results: z.array(result) });
/** The service took nothing of the batch. */
const refused = z.object({ entry: z.literal("refused"), key: z.string(), message: z.string() });
const final = z.object({
  token: z.number(),
  /** unknown: the service does not know the request any more. */
  status: z.enum(["completed", "failed", "unknown"]),
  token_id: z.string().nullable(),
  error: z.string().nullable(),
});
const outcomes = z.object({ entry: z.literal("outcomes"), outcomes: z.array(final) });
/** Tokens that failed are minted again. */
const again = z.object({ entry: z.literal("again"), tokens: z.array(z.number()) });

const line = z.discriminatedUnion("entry", [start, upload, batch, results, refused, outcomes, again]);
export type Entry = z.infer<typeof line>;
export type Start = z.infer<typeof start>;
/** An entry for a step of the bulk mint. */
export type MintEntry = Exclude<Entry, { entry: "start" | "upload" }>;
export type Outcome = z.infer<typeof final>;

/** Reads what an earlier run has done. @returns nothing when there was none. */
export async function readJournal(folder: string): Promise<Entry[]> {
  return (await read(folder)).entries;
}

async function read(folder: string): Promise<{ entries: Entry[]; bytes: number }> {
  let text: string;
  try {
    const handle = await openOwn(folder, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      text = await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { entries: [], bytes: 0 };
    throw error;
  }
  // A crash may leave a part of a line at the end. Nothing was done that depends on it.
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  const entries = whole
    .split("\n")
    .filter((one) => one !== "")
    .map((one, index) => readLine(folder, one, index));
  return { entries, bytes: Buffer.byteLength(whole) };
}

/** A folder from others may have a link or a pipe in place of the journal. @throws OperatorError */
async function openOwn(folder: string, flags: number): Promise<FileHandle> {
  const path = join(folder, JOURNAL);
  const refusal = () => new OperatorError(`${path} is a link, or not a file. Delete it, and run the command again.`);
  const handle = await open(path, flags | constants.O_NOFOLLOW, 0o600).catch((error: unknown) => {
    throw (error as NodeJS.ErrnoException).code === "ELOOP" ? refusal() : error;
  });
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw refusal();
}

function readLine(folder: string, text: string, index: number): Entry {
  try {
    const entry = line.parse(parseExact(text));
    if ((entry.entry === "start") === (index === 0)) return entry;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
  }
  throw new OperatorError(
    `Line ${(index + 1).toString()} of ${join(folder, JOURNAL)} is damaged, so it is not known what was minted. Restore the file from a copy. Without one, compare the folder with the collection, and drop only what is missing from a new folder.`,
  );
}

/** Appends to the journal. Each entry is on disk before the next step begins. */
export class Journal {
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async open(folder: string): Promise<Journal> {
    const { bytes } = await read(folder);
    const handle = await openOwn(folder, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
    await handle.truncate(bytes);
    await syncFolder(folder);
    return new Journal(handle);
  }

  async append(entry: Entry): Promise<void> {
    await this.#handle.appendFile(`${JSON.stringify(entry)}\n`);
    await this.#handle.datasync();
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}
