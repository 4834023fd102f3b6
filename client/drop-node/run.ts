import { join } from "node:path";

import { BulkStopped, oldBatches } from "../bulk.ts";
import type { BulkBatch } from "../bulk-progress.ts";
import type { Shape } from "../client.ts";
import { mintOf, receiverOf, referenceOf } from "../drop/plan.ts";
import { count } from "../drop/receivers.ts";
import { MEDIA, type MediaField, METADATA } from "../drop/values.ts";
import { ApiRefusal } from "../errors.ts";
import type { DropPlan, RunOptions } from "./drop.ts";
import type { DropToken, MediaFile } from "./files.ts";
import { type Journal, JOURNAL } from "./journal.ts";
import type { DropService } from "./service.ts";
import { DropStopped } from "./stopped.ts";

interface Run extends RunOptions {
  plan: DropPlan;
  fingerprint: string;
  journal: Journal;
  service: DropService;
}

/** Does what is left of the drop, until every request is final. */
export async function mintAll(run: Run): Promise<void> {
  const { journal, plan, service } = run;
  const to = await receiverOfAll(run);
  if (journal.start === null) await journal.begin({ fingerprint: run.fingerprint, url: run.url, to });
  else refuseForeignJournal(run, to);
  const [old] = run.sendOldBatches === true ? [] : oldBatches(journal.minting, Date.now());
  if (old !== undefined) throw tooOld(run, old);
  await uploadAll(run);
  const show = (step: string, done: number) => run.show?.(step, done, plan.tokens.length);
  const sent = () => plan.tokens.length - journal.in("waiting").length;
  const final = () => journal.in("completed", "failed", "unknown").length;
  const minting = service.bulkMint({
    progress: journal.minting,
    keep: async (_progress, step) => {
      await journal.write(step);
      if (step.step === "send") show("sent", sent() - step.items.length);
      if (step.step === "settle") show("final", final());
    },
  });
  await explained(async () => {
    await minting.send(bodiesOf(run, to));
    show("sent", sent());
    show("final", final());
    await minting.wait();
  });
}

/** The address for tokens without an owner. A user without a wallet gets one. @returns "" when every token has an owner */
async function receiverOfAll({ to = null, service }: Run): Promise<string> {
  if (to === null) return "";
  return "address" in to ? to.address : service.createWallet(to.user);
}

/** Says what to do when the bulk mint stops before its end. */
async function explained(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof BulkStopped)) throw error;
    if (error.reason === "no_room") {
      throw new DropStopped(
        `The service has no room for more tokens: a quota is used up, or too many requests wait. Run the same command again after ${new Date(Date.now() + error.wait).toISOString()} to continue.`,
        { cause: error },
      );
    }
    const refusal = error.cause instanceof ApiRefusal ? error.cause.message : error.message;
    throw new DropStopped(
      `A batch was sent, its answer was lost, and now it is refused: ${refusal}. It may have been accepted before, so its tokens stay as they are. Let the service and its proxies accept a body of this size again, then run the same command again.`,
      { cause: error },
    );
  }
}

function tooOld({ plan }: Run, { items, at }: BulkBatch): DropStopped {
  return new DropStopped(
    `${count(items.length, "token", "tokens")} (from ${plan.tokens[items[0] ?? 0]?.source ?? ""} on) were sent on ${new Date(at).toISOString()}, and the answer was lost. If the service prunes idempotency keys (RETAIN_IDEMPOTENCY_KEYS_DAYS), it may have forgotten that call, and sending it again would mint twice. Look whether the collection has these tokens. If keys are kept longer, or the tokens are missing, run again with --send-old-batches.`,
  );
}

/** The bodies of the tokens that wait. The others are not needed again. */
function* bodiesOf({ plan, journal }: Run, to: string): Generator<Shape<"Mint"> | null> {
  for (const [index, token] of plan.tokens.entries()) {
    yield journal.minting.items[index]?.is === "waiting" ? bodyOf(token, plan, to, journal.uploads) : null;
  }
}

/** The body of a mint. */
function bodyOf(token: DropToken, plan: DropPlan, to: string, uploads: Journal["uploads"]): Shape<"Mint"> {
  const media: Partial<Record<MediaField, string>> = {};
  for (const field of MEDIA) {
    const file = token.media[field];
    if (file === undefined) continue;
    const upload = uploads.get(file.sha256);
    if (upload === undefined) throw new Error(`${file.file} is uploaded before it is named`);
    media[field] = upload.uri;
  }
  return mintOf(token, plan, { to: token.owner ?? { address: to }, media });
}

/**
 * Uploads at a time, and the bytes that they have together. They share the bandwidth, and the service gives up an upload that is
 * slower than `UPLOAD_PACE`.
 */
const UPLOADS = 6;
const UPLOAD_BYTES = 16_777_216;
/** An upload that no metadata names is kept for a week at least. One that is older than a day is repeated. */
const UPLOAD_LASTS = 86_400_000;

/** Uploads the files of the tokens whose batch was not answered, or not sent. */
async function uploadAll(run: Run): Promise<void> {
  const { plan, journal, service } = run;
  const needed = new Set(journal.in("waiting", "sent").flatMap((token) => filesOf(plan.tokens[token])));
  const files = plan.uploads.filter(({ sha256 }) => needed.has(sha256));
  const left = files.filter(({ sha256 }) => Date.now() - (journal.uploads.get(sha256)?.at ?? 0) > UPLOAD_LASTS);
  let done = files.length - left.length;
  await bounded(left, async (file) => {
    const uri = await service.upload(join(run.folder, file.file), file);
    await journal.uploaded({ sha256: file.sha256, uri, at: Date.now() });
    run.show?.("uploaded", ++done, files.length);
  });
}

/** Works on several files at a time. A file above the bound goes alone. After an error no further file begins. */
async function bounded(files: readonly MediaFile[], work: (file: MediaFile) => Promise<void>): Promise<void> {
  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  let bytes = 0;
  const begin = (file: MediaFile) => {
    bytes += file.bytes;
    const job = work(file)
      .catch((error: unknown) => errors.push(error))
      .then(() => {
        bytes -= file.bytes;
        running.delete(job);
      });
    running.add(job);
  };
  for (const file of files) {
    while (running.size > 0 && (running.size >= UPLOADS || bytes + file.bytes > UPLOAD_BYTES)) {
      await Promise.race(running);
    }
    if (errors.length > 0) break;
    begin(file);
  }
  // The journal stays open until the uploads in progress have ended.
  await Promise.all(running);
  if (errors.length > 0) throw errors[0];
}

function filesOf(token: DropToken | undefined): string[] {
  return Object.values<{ sha256: string }>(token?.media ?? {}).map(({ sha256 }) => sha256);
}

const RECEIVERS = ["to_address", "initial_owner", "to_user"];
const FIELDS: readonly string[] = [
  ...[
    "collection_address",
    "token_id",
    "initial_supply",
    "reference",
    "unlockable_content",
    "uri",
    "copy_media",
    ...RECEIVERS,
  ],
  ...METADATA,
];

/**
 * A folder from others may come with a journal. Its batches are sent as they are, so they must be those of this drop.
 * @param to who gets the tokens now. @throws DropStopped
 */
function refuseForeignJournal({ folder, plan, journal }: Run, to: string): void {
  const own =
    journal.start?.to === to &&
    journal.minting.open.every(
      ({ items, bodies }) =>
        items.length === bodies.length &&
        bodies.every((body, place) => isOwn({ ...body }, plan.tokens[items[place] ?? -1], { plan, to })),
    );
  if (own) return;
  throw new DropStopped(
    `The file ${JOURNAL} in ${folder} is of a drop to another receiver (${journal.start?.to ?? "none"}, now ${to}) or collection. If the folder comes from someone else, delete that file. If it is yours, look what was minted before you go on.`,
  );
}

/** @param token that of the plan; undefined when the plan has no such token. */
function isOwn(
  item: Record<string, unknown>,
  token: DropToken | undefined,
  { plan: { collection }, to }: { plan: DropPlan; to: string },
): boolean {
  if (token === undefined) return false;
  const own = receiverOf(token.owner ?? { address: to }, collection.type);
  return (
    item["collection_address"] === collection.address &&
    RECEIVERS.every((field) => item[field] === own[field]) &&
    // Earlier versions did not send the old id.
    [token.reference, referenceOf(token)].includes((item["reference"] ?? null) as string | null) &&
    (item["unlockable_content"] ?? null) === token.unlockable &&
    item["uri"] === token.uri &&
    Object.keys(item).every((field) => FIELDS.includes(field))
  );
}
