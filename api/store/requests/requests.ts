import { type SelectQueryBuilder, sql } from "kysely";

import { type Command, isAdoptedMint, movementOf } from "../../domain/command.ts";
import { dayOf } from "../../domain/day.ts";
import type { FieldError, RequestFailureCode } from "../../domain/error-codes.ts";
import { storedBytesOf } from "../../domain/quota.ts";
import {
  type ChainOutcome,
  REQUEST_STATUSES,
  REQUEST_TYPES,
  type RequestStatus,
  type RequestType,
} from "../../domain/request.ts";
import { parseExact } from "../../../client/rules/exact-json.ts";
import type { RequestChange } from "../../shared/metrics.ts";
import { compiledQuery, compiledSetQuery } from "../db/compiled-query.ts";
import { addToBacklog, addToMediaBacklog, CounterDeltas, counterKeys, readCounters } from "../db/counters.ts";
import { AT_ONCE } from "../db/due.ts";
import {
  DIRECTIONS,
  MOST_COUNTED,
  type Order,
  type Page,
  pageOf,
  type PageQuery,
  rowsToFetch,
  rowsToSkip,
  type RowsWanted,
  rowsWanted,
} from "../db/pages.ts";
import type { RequestRow, Tables } from "../db/schema.ts";
import { type Db, inParts, rowSet, type Trx } from "../db/sql.ts";
import type { GasCharge } from "./gas-usage.ts";

export interface NewRequest {
  id: string;
  appId: string;
  type: RequestType;
  command: Command;
  /** The app's own text for it. */
  reference?: string | null | undefined;
  /** Encrypted. */
  unlockable?: string | null;
  collection?: string | null;
  tokenId?: string | null;
  /** null: no gas budget is set. */
  gas?: GasCharge | null;
  /** Whether content must be copied or made before a relayer may claim it. */
  waitsForMedia?: boolean;
  /** The failed request that it sends again. */
  retryOf?: string;
  now: number;
}

const COLUMNS = {
  id: "text",
  app_id: "text",
  type: "text",
  command: "text",
  reference: "text",
  unlockable: "text",
  stored_bytes: "integer",
  ready_at: "integer",
  nft_collection: "text",
  nft_token_id: "text",
  from_address: "text",
  to_address: "text",
  quantity: "text",
  retry_of: "text",
  copies_media: "integer",
  gas_day: "integer",
  gas_charged: "integer",
  gas_estimate: "integer",
  created_at: "integer",
} as const;

function rowOf(request: NewRequest) {
  const { unlockable = null } = request;
  const { from, to, quantity } = movementOf(request.command);
  return {
    id: request.id,
    app_id: request.appId,
    type: request.type,
    command: JSON.stringify(request.command),
    reference: request.reference ?? null,
    unlockable,
    stored_bytes: storedBytesOf(request.command, unlockable),
    ready_at: request.waitsForMedia === true ? null : AT_ONCE,
    nft_collection: request.collection ?? null,
    nft_token_id: request.tokenId ?? null,
    from_address: from,
    to_address: to,
    quantity,
    retry_of: request.retryOf ?? null,
    copies_media: request.waitsForMedia === true ? 1 : 0,
    gas_day: request.gas?.day ?? null,
    gas_charged: request.gas?.gas ?? null,
    gas_estimate: request.gas?.gas ?? null,
    created_at: request.now,
  };
}

/** Stores accepted requests in order. A relayer may claim them as soon as this commits. */
export async function insertRequests(trx: Trx, requests: readonly NewRequest[]): Promise<void> {
  if (requests.length === 0) return;
  const rows = requests.map(rowOf);
  for (const part of inParts(rows)) {
    await sql`
      insert into requests (id, app_id, type, status, command, reference, unlockable, stored_bytes, ready_at, returns,
                            nft_collection, nft_token_id, from_address, to_address, quantity, retry_of, copies_media,
                            gas_day, gas_charged, gas_estimate, created_at, updated_at)
      select id, app_id, type, 'pending', command, reference, unlockable, stored_bytes, ready_at, 0,
             nft_collection, nft_token_id, from_address, to_address, quantity, retry_of, copies_media,
             gas_day, gas_charged, gas_estimate, created_at, created_at
        from ${rowSet(trx, COLUMNS, part)} as input order by ord`.execute(trx);
  }
  const counters = new CounterDeltas();
  for (const row of rows) counters.add(counterKeys.storedBytes(row.app_id), row.stored_bytes);
  for (const { appId, type, waitsForMedia, now } of requests) {
    counters.add(counterKeys.requests(appId, "pending", type), 1);
    counters.add(counterKeys.usage(appId, dayOf(now), "accepted"), 1);
    if (waitsForMedia === true) addToMediaBacklog(counters, appId, 1);
    else addToBacklog(counters, appId, 1);
  }
  await counters.flush(trx);
}

export async function insertRequest(trx: Trx, request: NewRequest): Promise<void> {
  await insertRequests(trx, [request]);
}

export async function hasRequests(db: Db): Promise<boolean> {
  return (await db.selectFrom("requests").select("seq").limit(1).executeTakeFirst()) !== undefined;
}

/** @param appId null: of any app (for the operator). */
export async function findRequest(db: Db, appId: string | null, id: string): Promise<StoredRequest | undefined> {
  let query = db.selectFrom("requests").selectAll().where("id", "=", id);
  if (appId !== null) query = query.where("app_id", "=", appId);
  const row = await query.executeTakeFirst();
  return row && toRequest(row);
}

const listedById = compiledSetQuery({ id: "text" }, (input) => {
  const columns = sql.join(LISTED.map((column) => sql.ref(`requests.${column}`)));
  return sql<ListedRow>`select ${columns} from ${input} as input join requests on requests.id = input.id`;
});

/** The requests of calls that arrive together, in their order. Undefined: there is none, or it belongs to another app. */
export async function findRequests(
  db: Db,
  calls: readonly { appId: string; id: string }[],
): Promise<(ListedRequest | undefined)[]> {
  const rows = await listedById(
    db,
    [...new Set(calls.map(({ id }) => id))].map((id) => ({ id })),
  );
  const found = new Map(rows.map((row) => [row.id, toListed(row)]));
  return calls.map(({ appId, id }) => {
    const request = found.get(id);
    return request?.app_id === appId ? request : undefined;
  });
}

/** Requests by the numbers that they have for life. Numbers of no stored request are left out. */
export async function requestsByNumber(db: Db, numbers: readonly bigint[]): Promise<NumberedRequest[]> {
  if (numbers.length === 0) return [];
  const wanted = numbers.map((number) => ({ number: number.toString() }));
  const { rows } = await sql<RequestRow>`
    select requests.* from ${rowSet(db, { number: "text" }, wanted)} as input
      join requests on requests.number = input.number`.execute(db);
  return rows.map(toNumberedRequest);
}

/** null and undefined: any. */
interface RequestFilter {
  status: RequestStatus | null;
  type: RequestType | null;
  /** The transaction that carries the request. */
  transactionHash?: string | null;
  reference?: string | null;
  /** The wallet that a transfer leaves, or that gets the token of a mint or a transfer. */
  wallet?: string | null;
  collection?: string | null;
}

/** The filters that have an index, in the order of preference: the first one usually has the fewest requests. */
const KEYS = [
  ["transactionHash", "transaction_hash"],
  ["reference", "reference"],
  ["wallet", null],
  ["collection", "nft_collection"],
] as const;

/** @param order `oldest` only for filters by status and type: the other ones search among the newest requests. */
export async function listRequests(
  db: Db,
  appId: string,
  filter: RequestFilter,
  page: PageQuery,
  order: Order = "newest",
): Promise<Page<ListedRequest>> {
  const total = await countMatching(db, appId, filter);
  const { status, type } = filter;
  const rows = hasKey(filter)
    ? await inOrder(matching(db, appId, filter, page), order, rowsWanted(page)).execute()
    : await readInState[order](db, { appId, status, type, ...rowsWanted(page) });
  return pageOf(rows.map(toListed), total, page, (row) => row.seq);
}

function inOrder(query: SelectQueryBuilder<Tables, "requests", object>, order: Order, wanted: RowsWanted) {
  const { follows, direction } = DIRECTIONS[order];
  const rest = wanted.after === null ? query : query.where("seq", follows, wanted.after);
  return rest.select(LISTED).orderBy("seq", direction).limit(wanted.limit).offset(wanted.offset);
}

/** The app's requests, perhaps of one status or type. */
function inState(order: Order) {
  type State = { appId: string } & Record<"status" | "type", string | null>;
  return compiledQuery((db, { appId, status, type, ...wanted }: State & RowsWanted) => {
    let query = db.selectFrom("requests").where("app_id", "=", appId);
    if (status !== null) query = query.where("status", "=", status as RequestStatus);
    if (type !== null) query = query.where("type", "=", type as RequestType);
    return inOrder(query, order, wanted);
  });
}

const readInState = { newest: inState("newest"), oldest: inState("oldest") };

function hasKey(filter: RequestFilter): boolean {
  return KEYS.some(([name]) => (filter[name] ?? null) !== null);
}

/** Requests that meet a filter with an index of its own. @param page null: for a count */
function matching(db: Db, appId: string, filter: RequestFilter, page: PageQuery | null) {
  const ofApp = db.selectFrom("requests").where("app_id", "=", appId);
  const { status, type } = filter;
  const [first, ...others] = KEYS.filter(([name]) => (filter[name] ?? null) !== null);
  if (first === undefined) throw new Error("the filter has no index of its own");
  const [name, column] = first;
  const wanted = filter[name] ?? "";
  const isAlone = others.length === 0 && status === null && type === null;
  let query = ofApp;
  if (column === null) {
    // For a page with this filter alone, only as many rows are read as it can have.
    const part = isAlone && page !== null ? { most: rowsToFetch(page) + rowsToSkip(page), before: page.after } : WHOLE;
    query = among(db, newestOfWallet(db, appId, wanted, part));
  } else if (isAlone || column === "transaction_hash") {
    // A transaction has few requests.
    query = query.where(column, "=", wanted);
  } else {
    // Any number of requests may meet this condition and none of them the others, so the search has a bound.
    query = among(db, newestOf(db, appId, [column, wanted], WHOLE));
  }
  // Few requests are left. As expressions, these conditions cannot lead to an index of many requests.
  if (status !== null) query = query.where(sql`coalesce(status, '')`, "=", status);
  if (type !== null) query = query.where(sql`coalesce(type, '')`, "=", type);
  for (const [other, its] of others) {
    const value = filter[other] ?? "";
    query =
      its === null
        ? query.where(sql<boolean>`${value} in (coalesce(from_address, ''), coalesce(to_address, ''))`)
        : query.where(sql`coalesce(${sql.ref(its)}, '')`, "=", value);
  }
  return query;
}

/** Without a condition on the app, which could lead to an index of all its requests. */
function among(db: Db, seqs: SelectQueryBuilder<Tables, never, { seq: number }>) {
  return db.selectFrom("requests").where("seq", "in", seqs);
}

/** Up to where the requests with one condition are searched for others. */
const WHOLE = { most: MOST_COUNTED, before: null };

interface Part {
  most: number;
  /** Only requests before this row number. */
  before: number | null;
}

function newestOf(
  db: Db,
  appId: string,
  [column, value]: [column: "reference" | "nft_collection" | "from_address" | "to_address", value: string],
  { most, before }: Part,
) {
  let query = db.selectFrom("requests as newest").select("seq").where("app_id", "=", appId).where(column, "=", value);
  if (before !== null) query = query.where("seq", "<", before);
  return query.orderBy("seq", "desc").limit(most);
}

function newestOfWallet(db: Db, appId: string, wallet: string, part: Part) {
  const of = (column: "from_address" | "to_address") =>
    db.selectFrom(newestOf(db, appId, [column, wallet], part).as(column)).select("seq");
  return of("from_address").union(of("to_address"));
}

async function countMatching(db: Db, appId: string, filter: RequestFilter): Promise<number> {
  if (hasKey(filter)) {
    // One transaction has few requests: they can be counted. Of the others no more than these are counted.
    const some = matching(db, appId, filter, null).select("seq").limit(MOST_COUNTED).as("some");
    const { count } = await db
      .selectFrom(some)
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    return count;
  }
  const statuses = filter.status === null ? REQUEST_STATUSES : [filter.status];
  const types = filter.type === null ? REQUEST_TYPES : [filter.type];
  const keys = statuses.flatMap((status) => types.map((type) => counterKeys.requests(appId, status, type)));
  const totals = await readCounters(db, keys);
  return [...totals.values()].reduce((sum, total) => sum + total, 0);
}

/** A request as everybody outside the store sees it: its row, with the texts of the row parsed once. */
export interface StoredRequest extends Omit<RequestRow, "command" | "number" | "outcome" | "error_code" | "errors"> {
  command: Command;
  /** The number that the relay runs at most once; null until the first claim. */
  number: bigint | null;
  outcome: ChainOutcome | null;
  error_code: RequestFailureCode | null;
  errors: FieldError[] | null;
}

/** What listings show of a request. Its command may be large, above all in databases of 0.2.0. */
const LISTED = [
  ...(["seq", "id", "app_id", "type", "status", "reference", "number", "lane", "batch_id", "returns"] as const),
  ...(["ready_at", "waiting_for"] as const),
  ...(["from_address", "to_address", "quantity", "retry_of", "retried_by"] as const),
  ...(["nft_collection", "nft_token_id", "transaction_hash", "block_number", "error_code", "errors"] as const),
  ...(["gas_used", "fee_wei", "created_at", "updated_at"] as const),
] as const;
type ListedRow = Pick<RequestRow, (typeof LISTED)[number]>;
export type ListedRequest = Pick<StoredRequest, (typeof LISTED)[number]>;

/** A request that was claimed at least once, so it has its number. */
export type NumberedRequest = StoredRequest & { number: bigint };

/** A request together with what its call did on chain. */
export interface DecidedRequest<R extends StoredRequest = StoredRequest> {
  request: R;
  outcome: ChainOutcome;
}

/** The collection and the token that a request has made or changed. */
export function madeBy({ request, outcome }: DecidedRequest): Pick<RequestRow, "nft_collection" | "nft_token_id"> {
  return {
    nft_collection: (outcome.ok ? outcome.collection : null) ?? request.nft_collection,
    nft_token_id:
      outcome.ok && isAdoptedMint(request.command)
        ? outcome.tokenId
        : ((outcome.ok ? outcome.tokenId : null) ?? request.nft_token_id),
  };
}

/** What is counted and traced of requests that became final. @param stepSeconds how long storing it took */
export function finalChanges(settled: readonly DecidedRequest[], now: number, stepSeconds = 0): RequestChange[] {
  return settled.map(({ request, outcome }) => ({
    id: request.id,
    type: request.type,
    status: outcome.ok ? "completed" : "failed",
    errorCode: outcome.ok ? null : outcome.errorCode,
    seconds: (now - request.created_at) / 1_000,
    stepSeconds,
  }));
}

/** A row of `requests` that cannot be read. Relayers park it. The indexer stops at a block that needs it: nobody guesses what it says. */
export class UnreadableRequest extends Error {
  override readonly name = "UnreadableRequest";
  readonly id: string;

  constructor(id: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`request ${id} cannot be read (${reason}): run \`npm run cli -- request repair ${id}\``, { cause });
    this.id = id;
  }
}

/** Parses a row. This is the only place that reads the JSON columns of `requests`. */
export function toRequest(row: RequestRow): StoredRequest {
  try {
    return {
      ...row,
      ...toListed(row),
      command: toCommand(row.command),
      outcome: row.outcome === null ? null : (JSON.parse(row.outcome) as ChainOutcome),
    };
  } catch (error) {
    throw new UnreadableRequest(row.id, error);
  }
}

function toListed(row: ListedRow): ListedRequest {
  return {
    ...row,
    number: row.number === null ? null : BigInt(row.number),
    error_code: row.error_code as RequestFailureCode | null,
    errors: row.errors === null ? null : (JSON.parse(row.errors) as FieldError[]),
  };
}

/** @throws Error when the request has no number, although it was claimed. */
export function toNumberedRequest(row: RequestRow): NumberedRequest {
  const request = toRequest(row);
  if (request.number === null) throw new Error(`request ${row.id} was claimed but has no number`);
  return { ...request, number: request.number };
}

/**
 * Metadata inside a command may hold numbers that a JavaScript number would round.
 * @throws Error when a value of it is of another type. Its worker leaves such a request alone then. Metadata of earlier versions may
 * have values of any type.
 */
export function toCommand(text: string): Command {
  const command = parseExact(text);
  const wrong = wrongField(command);
  if (wrong !== null) throw new TypeError(`the command has a value of a wrong type: ${wrong}`);
  return command as Command;
}

/** The fields that hold no texts. */
const FIELD_TYPES: Readonly<Record<string, "number" | "boolean" | "object">> = {
  maxSupply: "number",
  foreign: "boolean",
  soulbound: "boolean",
  metadata: "object",
  adopted: "object",
};

/** The first field with a value of a wrong type; null: there is none. */
function wrongField(command: unknown): string | null {
  if (typeof command !== "object" || command === null) return "it is not an object";
  for (const [name, field] of Object.entries(command) as [string, unknown][])
    if (field !== null && typeof field !== (FIELD_TYPES[name] ?? "string")) return name;
  return null;
}

/** The metadata in a command that cannot be read otherwise; null: that cannot be read either. */
export function readableMetadata(text: string): unknown {
  try {
    const { metadata } = parseExact(text) as { metadata?: unknown };
    return typeof metadata === "object" ? metadata : null;
  } catch {
    return null;
  }
}
