import { randomBytes } from "node:crypto";

import { MAX_BATCH_ITEMS, MAX_JSON_VALUES } from "../../config/limits.ts";
import { OperatorError } from "../../operator/operator-error.ts";
import { plural } from "../../shared/plural.ts";
import type { Entry, Journal, SentBatch, Start } from "./journal.ts";
import { valuesOf } from "./json-values.ts";
import { refuseForeignJournal } from "./own-journal.ts";
import type { Plan } from "./plan.ts";
import type { DropService } from "./service.ts";
import type { DropState } from "./state.ts";
import type { FolderToken, Metadata } from "./token.ts";
import { untilFinal } from "./until-final.ts";
import { uploadAll } from "./uploads.ts";

/** Tokens, bytes and JSON values of a batch. Smaller than the service allows, so that progress is visible. */
const BATCH_TOKENS = Math.min(250, MAX_BATCH_ITEMS);
const BATCH_BYTES = 4_000_000;
const BATCH_VALUES = MAX_JSON_VALUES / 2;
/** The shortest time for which an operator can keep idempotency keys is a week. */
const KEY_LASTS = 6 * 86_400_000;
/** When items are refused for lack of room without `Retry-After`: milliseconds. */
const NO_ROOM_WAIT = 5_000;
const LONGEST_WAIT = 600_000;

export interface Run {
  folder: string;
  url: string;
  plan: Plan;
  state: DropState;
  journal: Journal;
  service: DropService;
  /** Shows how far a step is. */
  show: (step: string, done: number, all: number) => void;
  now: () => number;
  /** Send an old batch again although the service may have forgotten its key. */
  sendOld: boolean;
}

/** Does what is left of the drop, until every request is final. */
export async function runDrop(run: Run, resolveTo: () => Promise<string>): Promise<void> {
  const begun = await begin(run, resolveTo);
  const unanswered = run.state.unanswered();
  for (const batch of unanswered) refuseOld(run, batch);
  await uploadAll(run);
  // The answers of these batches are not known: the same key with the same body gets them, or mints now.
  for (const batch of unanswered) await send(run, batch, { sentBefore: true });
  await mintAll(run, begun);
  await untilFinal(run);
}

async function record(run: Run, entry: Entry): Promise<void> {
  await run.journal.append(entry);
  run.state.apply(entry);
}

async function begin(run: Run, resolveTo: () => Promise<string>): Promise<Start> {
  const to = await resolveTo();
  if (run.state.start !== null) {
    refuseForeignJournal(run.folder, { plan: run.plan, state: run.state, to });
    return run.state.start;
  }
  const start: Start = {
    entry: "start",
    version: 1,
    id: randomBytes(16).toString("hex"),
    fingerprint: run.plan.fingerprint,
    url: run.url,
    to,
  };
  await record(run, start);
  return start;
}

function refuseOld(run: Run, batch: SentBatch): void {
  if (run.now() - batch.at > KEY_LASTS && !run.sendOld) {
    throw new OperatorError(
      `${plural(batch.tokens.length, "token")} (from ${run.plan.tokens[batch.tokens[0] ?? 0]?.source ?? ""} on) were sent on ${new Date(batch.at).toISOString()}, and the answer was lost. If the service prunes idempotency keys (RETAIN_IDEMPOTENCY_KEYS_DAYS), it may have forgotten that call, and sending it again would mint twice. Look whether the collection has these tokens. If keys are kept longer, or the tokens are missing, run again with --send-old-batches.`,
    );
  }
}

async function mintAll(run: Run, start: Start): Promise<void> {
  const { plan, state } = run;
  for (;;) {
    const waiting = state.in("waiting");
    run.show("sent", plan.tokens.length - waiting.length, plan.tokens.length);
    if (waiting.length === 0) return;
    const batch = nextBatch(run, start, waiting);
    await record(run, batch);
    const { accepted, retryAfter } = await send(run, batch, { sentBefore: false });
    if (!accepted || !batch.tokens.some((token) => state.tokens[token]?.is === "waiting")) continue;
    const wait = retryAfter ?? NO_ROOM_WAIT;
    if (wait > LONGEST_WAIT) {
      throw new OperatorError(
        `The service has no room for more tokens: a quota is used up, or too many requests wait. Run the same command again after ${new Date(run.now() + wait).toISOString()} to continue.`,
      );
    }
    await run.service.wait(wait);
  }
}

function nextBatch({ plan, state, now }: Run, start: Start, waiting: readonly number[]): SentBatch {
  const tokens: number[] = [];
  const items: Record<string, unknown>[] = [];
  let [bytes, values] = [0, 0];
  for (const token of waiting.slice(0, Math.min(BATCH_TOKENS, state.largestBatch))) {
    const described = plan.tokens[token];
    if (described === undefined) throw new Error("the journal names a token of the plan");
    const item = itemOf(described, plan, start.to, state);
    bytes += Buffer.byteLength(JSON.stringify(item));
    values += valuesOf(item);
    if (tokens.length > 0 && (bytes > BATCH_BYTES || values > BATCH_VALUES)) break;
    tokens.push(token);
    items.push(item);
  }
  // The number follows from the journal. Two processes that begin from the same journal send the same key.
  const key = `drop-${start.id}-${state.batches.size.toString()}`;
  return { entry: "batch", key, tokens, body: { items }, at: now() };
}

/** The body of a mint. */
function itemOf(token: FolderToken, plan: Plan, to: string, state: DropState): Record<string, unknown> {
  const { address: collection_address, type } = plan.collection;
  const metadata: Metadata = { ...token.metadata };
  for (const field of ["image", "animation_url"] as const) {
    const file = token.media[field];
    if (file === undefined) continue;
    const upload = state.uploads.get(file.sha256);
    if (upload === undefined) throw new Error(`${file.file} is uploaded before it is named`);
    metadata[field] = upload.uri;
  }
  if (type === "ERC721") return { collection_address, to_address: to, ...metadata };
  return {
    collection_address,
    token_id: token.tokenId,
    initial_supply: token.supply,
    initial_owner: to,
    ...metadata,
  };
}

interface Sent {
  /** false: the service took nothing of the batch. Its tokens go into smaller ones. */
  accepted: boolean;
  /** Milliseconds after which refused items can be sent again, when the service says so. */
  retryAfter: number | null;
}

async function send(run: Run, batch: SentBatch, { sentBefore }: { sentBefore: boolean }): Promise<Sent> {
  const answer = await run.service.mint(batch, sentBefore);
  if ("refused" in answer) {
    await record(run, { entry: "refused", key: batch.key, message: answer.refused });
    return { accepted: false, retryAfter: null };
  }
  await record(run, { entry: "results", key: batch.key, results: answer.results });
  return { accepted: true, retryAfter: answer.retryAfter };
}
