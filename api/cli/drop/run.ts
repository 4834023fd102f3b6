import { randomBytes } from "node:crypto";
import { join } from "node:path";

import type { Shape } from "../../../client/client.ts";
import { MAX_BATCH_ITEMS, MAX_JSON_VALUES } from "../../config/limits.ts";
import { MEDIA_FIELDS, METADATA_FIELDS, type TokenMetadata } from "../../domain/command.ts";
import { OperatorError } from "../../operate/operator-error.ts";
import { plural } from "../../shared/text.ts";
import type { FolderToken, MediaFile } from "./folder.ts";
import { type Entry, type Journal, JOURNAL, type Outcome, type SentBatch, type Start } from "./journal.ts";
import type { Plan } from "./plan.ts";
import type { DropService } from "./service.ts";
import type { DropState } from "./state.ts";
import { valuesOf } from "./values.ts";

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
  for (const token of waiting.slice(0, Math.min(BATCH_TOKENS, state.batchSize.value))) {
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
  const metadata: TokenMetadata = { ...token.metadata };
  for (const field of MEDIA_FIELDS) {
    const file = token.media[field];
    if (file === undefined) continue;
    const upload = state.uploads.get(file.sha256);
    if (upload === undefined) throw new Error(`${file.file} is uploaded before it is named`);
    metadata[field] = upload.uri;
  }
  const rest = { ...receiverOf(token, type, to), ...(token.reference !== null && { reference: token.reference }) };
  if (type === "ERC721") return { collection_address, ...rest, ...metadata };
  return {
    collection_address,
    token_id: token.tokenId,
    initial_supply: token.supply,
    ...rest,
    ...metadata,
  };
}

/** The field of a mint that says who gets the token. */
function receiverOf({ owner }: FolderToken, type: Plan["collection"]["type"], to: string): Record<string, string> {
  if (owner !== null && "user" in owner) return { to_user: owner.user };
  return { [type === "ERC721" ? "to_address" : "initial_owner"]: owner?.address ?? to };
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

/** Uploads at a time, and the bytes that they have together. They share the line, and the service gives up each that is slower than `UPLOAD_PACE`. */
const UPLOADS = 6;
const UPLOAD_BYTES = 16_777_216;
/** An upload that no metadata names is kept for a week at least. One that is older than a day is repeated. */
const UPLOAD_LASTS = 86_400_000;

/** Uploads the files of the tokens whose batch was not answered, or not sent. */
async function uploadAll(run: Run): Promise<void> {
  const { plan, state, service } = run;
  const needed = new Set(state.in("waiting", "sent").flatMap((token) => filesOf(plan.tokens[token])));
  const files = plan.files.filter(({ sha256 }) => needed.has(sha256));
  const left = files.filter(({ sha256 }) => run.now() - (state.uploads.get(sha256)?.at ?? 0) > UPLOAD_LASTS);
  let done = files.length - left.length;
  await bounded(left, async (file) => {
    const uri = await service.upload(join(run.folder, file.file), file);
    const entry = { entry: "upload" as const, sha256: file.sha256, uri, at: run.now() };
    await run.journal.append(entry);
    state.apply(entry);
    run.show("uploaded", ++done, files.length);
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

function filesOf(token: FolderToken | undefined): string[] {
  return Object.values<{ sha256: string }>(token?.media ?? {}).map(({ sha256 }) => sha256);
}

/** Milliseconds between two looks at a request that is not final. */
const LOOK = 1_000;
/** Milliseconds between two pages: the app's other calls share its rate limit. */
const BETWEEN_PAGES = 120;

/** So many more requests that are not of this drop end a search. */
const OTHER_REQUESTS = 300;

const NOT_KNOWN =
  "The service does not know this request, as after its restore from a backup. Look whether the collection has the token.";

/** Waits until every accepted request is final. */
async function untilFinal(run: Run): Promise<void> {
  const { state, service, plan } = run;
  for (;;) {
    run.show("final", state.in("final", "refused").length, plan.tokens.length);
    const [oldest] = state.in("accepted");
    if (oldest === undefined) return;
    const open = openRequests(run);
    const first = state.tokens[oldest];
    if (first?.is !== "accepted") throw new Error("the oldest open token is accepted");
    const request = await service.request(first.requestId);
    if (request === null) {
      await take(run, [{ token: oldest, status: "unknown", token_id: null, error: NOT_KNOWN }]);
      continue;
    }
    const found = [request];
    // Requests end in about the order in which they came, so the pages are worth reading only now.
    if (isFinal(request)) found.push(...(await recentMints(run, open)));
    const outcomes = found.flatMap((one) => {
      const token = open.get(one.request_id);
      if (token === undefined || !isFinal(one)) return [];
      open.delete(one.request_id);
      return [outcomeOf(token, one)];
    });
    if (outcomes.length === 0) {
      await service.wait(LOOK);
      continue;
    }
    await take(run, outcomes);
  }
}

async function take({ journal, state }: Run, outcomes: Outcome[]): Promise<void> {
  const entry = { entry: "outcomes" as const, outcomes };
  await journal.append(entry);
  state.apply(entry);
}

/** The tokens whose requests are not final, by request id. */
function openRequests({ state }: Run): Map<string, number> {
  return new Map(
    state.tokens.flatMap((token, index) => (token.is === "accepted" ? [[token.requestId, index] as const] : [])),
  );
}

/** Reads pages, newest first, until all open requests were seen, or the app's other requests are too many. */
async function recentMints({ service }: Run, open: ReadonlyMap<string, number>): Promise<Shape<"Request">[]> {
  const seen: Shape<"Request">[] = [];
  let cursor: string | null = null;
  let others = 0;
  do {
    const page = await service.mints(cursor);
    const own = page.requests.filter(({ request_id: id }) => open.has(id));
    seen.push(...own);
    others += page.requests.length - own.length;
    cursor = page.next;
    await service.wait(BETWEEN_PAGES);
  } while (cursor !== null && seen.length < open.size && others <= open.size + OTHER_REQUESTS);
  return seen;
}

function isFinal({ status }: Shape<"Request">): boolean {
  return status === "completed" || status === "failed";
}

function outcomeOf(token: number, request: Shape<"Request">): Outcome {
  const { status, nft_token_id: id, error_code: code, errors } = request;
  const details = (errors ?? []).map(({ field, message }) => `${field}: ${message}`);
  return {
    token,
    status: status === "completed" ? "completed" : "failed",
    token_id: id === null ? null : String(id),
    error: code === null ? null : [code, ...details].join(" "),
  };
}

const RECEIVERS = ["to_address", "initial_owner", "to_user"];
const FIELDS: readonly string[] = [
  ...["collection_address", "token_id", "initial_supply", "reference", ...RECEIVERS],
  ...METADATA_FIELDS,
];

/**
 * A folder from others may come with a journal. Its batches are sent as they are, so they must be those of this drop.
 * @param to who gets the tokens now. @throws OperatorError
 */
function refuseForeignJournal(folder: string, { plan, state, to }: { plan: Plan; state: DropState; to: string }) {
  const batches = state.unanswered();
  const own =
    state.start?.to === to &&
    batches.every(
      ({ tokens, body: { items } }) =>
        tokens.length === items.length &&
        items.every((item, index) => isOwn(item, plan.tokens[tokens[index] ?? -1], { plan, to })),
    );
  if (own) return;
  throw new OperatorError(
    `The file ${JOURNAL} in ${folder} is of a drop to another receiver (${state.start?.to ?? "none"}, now ${to}) or collection. If the folder comes from someone else, delete that file. If it is yours, look what was minted before you go on.`,
  );
}

/** @param token that of the plan; undefined when the plan has no such token. */
function isOwn(
  item: Record<string, unknown>,
  token: FolderToken | undefined,
  { plan: { collection }, to }: { plan: Plan; to: string },
): boolean {
  if (token === undefined) return false;
  const own = receiverOf(token, collection.type, to);
  return (
    item["collection_address"] === collection.address &&
    RECEIVERS.every((field) => item[field] === own[field]) &&
    (item["reference"] ?? null) === token.reference &&
    Object.keys(item).every((field) => FIELDS.includes(field))
  );
}
