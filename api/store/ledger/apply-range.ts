import { sql } from "kysely";

import type { CollectionKind, CollectionType } from "../../domain/command.ts";
import type { Cost } from "../../domain/cost-shares.ts";
import { CounterDeltas } from "../db/counters.ts";
import { checkpointOf, readMeta, replaceMeta, writeMeta } from "../db/meta.ts";
import type { BlockRow } from "../db/schema.ts";
import { lockCollections, rowSet, type Trx } from "../db/sql.ts";
import { insertCollections } from "../listings/collections.ts";
import { enqueueEvents } from "../outbox/events.ts";
import type { HoldingKey } from "../../domain/token.ts";
import { correctFinal } from "../requests/settle-final.ts";
import { costOfBatch, recordCosts } from "../requests/costs.ts";
import { chargeAgain } from "../requests/gas-usage.ts";
import { releaseReservations } from "../requests/reservations.ts";
import { type DecidedRequest, madeBy, type StoredRequest } from "../requests/requests.ts";
import { returnUntouched } from "../sending/close-batch.ts";
import { continuesStored, rememberBlocks } from "./blocks.ts";
import { applyEdits, type ChainEdit, forgetEdits } from "./chain-edits.ts";
import { forgetForeign } from "./indexed-contracts.ts";
import { hiddenFrom, hideFrom, showHidden } from "./hidden-history.ts";
import { countHistory, insertHistory, type StoredMove } from "./history.ts";
import { HoldingSet, setHoldings } from "./holding-set.ts";
import { unlistedAmong } from "./listed-holdings.ts";
import { type MintingStop, stopMinting } from "../requests/minting.ts";
import { type MintContent, TokenSet } from "./token-set.ts";
import { followedAmong, markUncertain, removeMarks } from "./uncertain.ts";

/** What the blocks of a slice say, and the database of them: which events belong to which requests. */
export interface AttributedSlice {
  from: number;
  to: number;
  /** Hash of the block before the slice. The slice is not stored if the stored block has another hash. */
  parentHash: string;
  /** Headers to keep, for detecting a reorg. */
  blocks: BlockRow[];
  /** The service's own transactions, in the order of the chain. */
  batches: {
    batchId: number;
    transactionHash: string;
    blockNumber: number;
    timestamp: number;
    /** What the transaction cost. Absent: the node did not show its receipt. */
    cost?: Cost;
    outcomes: DecidedRequest[];
    untouched: StoredRequest[];
  }[];
  /** Requests whose number was cancelled, with the transaction that did it. */
  cancelled: { request: StoredRequest; transactionHash: string; blockNumber: number }[];
  /** Token movements in the service's collections, in adopted and in other foreign contracts, in the order of the chain. */
  entries: { move: StoredMove; type: CollectionType; kind: MoveKind; mintedBy: StoredRequest | null }[];
  /** The first row of the history of `entries`, if that is stored already and hidden: see `storeHistoryPart`. */
  historyFrom?: number;
  edits: ChainEdit[];
  /** Adopted contracts whose mints did not do what they should. */
  mintingStops: readonly MintingStop[];
  /** What their factories decided about new collections, by address. */
  kinds: ReadonlyMap<string, CollectionKind>;
  /** Senders and recipients of the movements that are wallets of the service. */
  wallets: Set<string>;
  /** Headers below this block are deleted. */
  forgetBlocksBefore: number;
}

/**
 * Whose the contract of a move is. `own`: the service's collection. `adopted`: another party deployed it, and all of its holders are
 * stored as its events say. `foreign`: only balances of wallets are stored, as the contract says.
 */
export type MoveKind = "own" | "adopted" | "foreign";

/** A slice with what only a node can say of it. */
export interface SliceToStore extends AttributedSlice {
  /** Owns the new collections that name no other owner. */
  relayOwner: string;
  /** Balances of wallets in foreign contracts, as the contracts report them; null: to be read in the background. */
  foreignHoldings: { contract: string; tokenId: string; owner: string; quantity: bigint | null }[];
  /** The foreign contracts that answered when balances were read, and those that did not. */
  reads: { answered: string[]; failed: string[] };
  /** A batch on chain that a lane sent and this database does not know: the database is an old copy. Null: none. */
  unknownTransaction: { hash: string; blockNumber: number } | null;
}

/**
 * Stores a slice: ownership, history, outcomes and the checkpoint, all in the caller's transaction, which has locked the ledger and
 * settles afterwards what is final (`settleFinal`).
 * @returns false when another process has stored these blocks or rolled back earlier ones, so that nothing is changed.
 */
export async function applyRange(trx: Trx, slice: SliceToStore, now: number): Promise<boolean> {
  if (!(await continuesStored(trx, slice)) || (await hiddenFrom(trx)) !== (slice.historyFrom ?? null)) return false;
  const moved = await replaceMeta(trx, "checkpoint", (slice.from - 1).toString(), slice.to.toString());
  if (!moved) return false;
  await lockCollections(trx, collectionsOf(slice));
  // Far behind the head no headers are stored, so there are none to forget.
  const remembers = slice.blocks.length > 0;
  if (remembers) await rememberBlocks(trx, slice.blocks, slice.forgetBlocksBefore);
  const counters = new CounterDeltas();
  for (const one of slice.cancelled) await applyCancellation(trx, one, now);
  for (const batch of slice.batches) await applyOutcomes(trx, batch, slice, counters, now);
  await recordCosts(trx, slice.batches.flatMap(costOfBatch), counters);
  if (slice.unknownTransaction !== null) await markUnknown(trx, slice.unknownTransaction);
  await applyMoves(trx, slice, counters);
  await applyForeign(trx, slice, counters);
  await applyEdits(trx, slice.edits);
  await stopMinting(trx, slice.mintingStops);
  if (remembers) await forgetEdits(trx, slice.forgetBlocksBefore);
  await counters.flush(trx);
  return true;
}

/**
 * Announces the outcomes of a slice that was stored and is not final yet: `in_block`. The same transaction has settled what is final.
 */
export async function announceInclusions(trx: Trx, slice: AttributedSlice, now: number): Promise<void> {
  const decided = [
    ...slice.batches.flatMap(({ outcomes, ...where }) => outcomes.map((one) => ({ ...one, ...where }))),
    ...slice.cancelled.map((one) => ({ ...one, outcome: NUMBER_TAKEN })),
  ];
  if (decided.length === 0) return;
  const { rows } = await sql<{ id: string }>`
    select id from requests where outcome is not null and block_number between ${slice.from} and ${slice.to}`.execute(
    trx,
  );
  const undecided = new Set(rows.map(({ id }) => id));
  const events = decided
    .filter(({ request }) => undecided.has(request.id))
    .map(({ request, outcome, transactionHash, blockNumber }) => ({
      request: { ...request, ...madeBy({ request, outcome }), transaction_hash: transactionHash },
      type: "in_block" as const,
      errorCode: outcome.ok ? undefined : outcome.errorCode,
      blockNumber,
    }));
  await enqueueEvents(trx, events, now);
}

/**
 * Stores a part of the history of a slice that is too large for one commit, hidden until `applyRange` stores the rest of the slice.
 * The caller's transaction has locked the ledger.
 * @param first the first row of the parts before; null: this is the first part.
 * @returns the first row of all parts; null when nothing was stored, as with `applyRange`.
 */
export async function storeHistoryPart(
  trx: Trx,
  slice: Pick<AttributedSlice, "from" | "parentHash" | "wallets">,
  entries: AttributedSlice["entries"],
  first: number | null,
): Promise<number | null> {
  if (!(await continuesStored(trx, slice)) || (await hiddenFrom(trx)) !== first) return null;
  if ((await checkpointOf(trx)) !== slice.from - 1) return null;
  const row = await insertHistory(
    trx,
    entries.map(({ move }) => move),
    slice.wallets,
  );
  if (first !== null || row === null) return first;
  await hideFrom(trx, row);
  return row;
}

/** The first one that is found stays. A roll-back of its block removes it: that finds later ones again. */
async function markUnknown(
  trx: Trx,
  { hash, blockNumber }: NonNullable<SliceToStore["unknownTransaction"]>,
): Promise<void> {
  if ((await readMeta(trx, "unknown_transaction")) !== null) return;
  await writeMeta(trx, "unknown_transaction", hash);
  await writeMeta(trx, "unknown_transaction_block", blockNumber.toString());
}

/** Stores the outcomes of a batch's calls. A final request is corrected; the others settle once their block is final. */
async function applyOutcomes(
  trx: Trx,
  batch: SliceToStore["batches"][number],
  slice: SliceToStore,
  counters: CounterDeltas,
  now: number,
): Promise<void> {
  await trx
    .updateTable("batches")
    .set({ status: "closed", block_number: batch.blockNumber, ran: 1 })
    .where("id", "=", batch.batchId)
    .execute();
  const stored = await storeOutcomes(trx, batch, now);
  if (batch.outcomes.some(({ outcome }) => !outcome.ok && outcome.errorCode === "out_of_gas")) {
    await writeMeta(trx, "gas_shortage", batch.transactionHash);
  }
  for (const decided of batch.outcomes) {
    if (!stored.has(decided.request.id)) await correctFinal(trx, decided, batch, now);
  }
  const fresh = batch.outcomes.filter(({ request }) => stored.has(request.id));
  await releaseReservations(
    trx,
    fresh.map(({ request, outcome }) => ({ command: request.command, happened: outcome.ok })),
  );
  await addCollections(trx, fresh, { batch, slice, counters });
  // If some calls ran, the batch's gas ran low before the untouched ones. These are not the cause, and are first in the next batch.
  await returnUntouched(trx, batch.untouched, batch.batchId, now, { counts: batch.outcomes.length === 0 });
}

const NUMBER_TAKEN = { ok: false, errorCode: "number_taken", errors: null } as const;

/** Fails a request whose number was cancelled, unless its outcome is known. Later batches have skipped the number. */
async function applyCancellation(trx: Trx, cancelled: SliceToStore["cancelled"][number], now: number): Promise<void> {
  const { request } = cancelled;
  const stored = await storeOutcomes(trx, { ...cancelled, outcomes: [{ request, outcome: NUMBER_TAKEN }] }, now);
  if (!stored.has(request.id)) return;
  await releaseReservations(trx, [{ command: request.command, happened: false }]);
  await chargeAgain(trx, [request]);
}

/** @returns the ids of the requests that were not final and now have their outcome. */
async function storeOutcomes(
  trx: Trx,
  batch: Pick<SliceToStore["batches"][number], "outcomes" | "transactionHash" | "blockNumber">,
  now: number,
): Promise<Set<string>> {
  if (batch.outcomes.length === 0) return new Set();
  const rows = batch.outcomes.map((decided) => ({
    id: decided.request.id,
    outcome: JSON.stringify(decided.outcome),
    ...madeBy(decided),
  }));
  const columns = { id: "text", outcome: "text", nft_collection: "text", nft_token_id: "text" } as const;
  const { rows: stored } = await sql<{ id: string }>`
    update requests set outcome = input.outcome, transaction_hash = ${batch.transactionHash},
           block_number = ${batch.blockNumber}, ready_at = null, lane = null,
           nft_collection = input.nft_collection, nft_token_id = input.nft_token_id, updated_at = ${now}
      from ${rowSet(trx, columns, rows)} as input
     where requests.id = input.id and requests.status in ('pending', 'processing') and requests.outcome is null
    returning requests.id as id`.execute(trx);
  return new Set(stored.map(({ id }) => id));
}

/** Used only in a scratch copy of the ledger, where nobody reads it. */
const UNKNOWN_KIND: CollectionKind = { storage: "standard", signedBurns: false };

async function addCollections(
  trx: Trx,
  decided: readonly DecidedRequest[],
  { batch, slice, counters }: { batch: SliceToStore["batches"][number]; slice: SliceToStore; counters: CounterDeltas },
): Promise<void> {
  const made = decided.flatMap(({ request, outcome }) => {
    const { command } = request;
    if (!outcome.ok || command.kind !== "create-collection" || outcome.collection === null) return [];
    const { collection: address } = outcome;
    const owner = command.newOwner ?? slice.relayOwner;
    const kind = slice.kinds.get(address) ?? UNKNOWN_KIND;
    return [{ request, command, address, owner, kind, blockNumber: batch.blockNumber, createdAt: batch.timestamp }];
  });
  if (made.length === 0) return;
  await forgetForeign(
    trx,
    made.map(({ address }) => address),
    counters,
  );
  await insertCollections(trx, made);
}

/** Moves in foreign contracts only go into the history. Balances in these contracts are read from the contracts. */
export async function applyMoves(
  trx: Trx,
  { entries, wallets, historyFrom }: Pick<AttributedSlice, "entries" | "wallets" | "historyFrom">,
  counters: CounterDeltas,
): Promise<void> {
  const history = entries.map(({ move }) => move);
  if (historyFrom === undefined) await insertHistory(trx, history, wallets);
  else await showHidden(trx);
  countHistory(history, wallets, counters);
  // A transfer of a wallet to itself changes no holding.
  await applyHoldings(
    trx,
    entries.filter(({ kind, move }) => kind !== "foreign" && move.from !== move.to),
    counters,
  );
}

/** Changes tokens and holdings. @param moves no transfers of a wallet to itself. */
async function applyHoldings(trx: Trx, moves: AttributedSlice["entries"], counters: CounterDeltas): Promise<void> {
  if (moves.length === 0) return;
  const tokens = await TokenSet.read(
    trx,
    moves
      .filter(({ kind, move }) => kind === "adopted" || move.from === null || move.to === null)
      .map(({ move }) => move),
  );
  const adopted = moves.filter(({ kind }) => kind === "adopted");
  const isUnlisted = await unlistedAmong(trx, adopted.flatMap(endsOf));
  const holdings = await HoldingSet.read(trx, moves.flatMap(endsOf), isUnlisted);
  for (const { move, type, kind, mintedBy } of moves) {
    if (kind === "adopted") {
      const made = mintedBy === null ? null : { requestId: mintedBy.id, content: contentOf(mintedBy) };
      tokens.moveByEvent(move, type, { made });
      holdings.moveByEvent(move, type, move.blockNumber);
      continue;
    }
    if (move.from === null) tokens.mint(move, type, contentOf(mintedBy));
    if (move.to === null) tokens.burn(move);
    holdings.move(move, move.blockNumber);
  }
  await tokens.store(trx, counters);
  await holdings.store(trx, counters);
}

function endsOf({ move }: { move: StoredMove }): HoldingKey[] {
  const { contract, tokenId } = move;
  return [move.from, move.to].flatMap((owner) => (owner === null ? [] : [{ contract, tokenId, owner }]));
}

function contentOf(request: StoredRequest | null): MintContent | null {
  if (request === null) return null;
  const { command } = request;
  if (command.kind !== "mint-erc721" && command.kind !== "create-erc1155") return null;
  return {
    metadata: command.metadata,
    tokenUri: command.kind === "create-erc1155" ? command.uri : null,
  };
}

/** Marks balances that could not be read, so that they are read again later. */
async function applyForeign(trx: Trx, slice: SliceToStore, counters: CounterDeltas): Promise<void> {
  const unread = slice.foreignHoldings.filter(({ quantity }) => quantity === null);
  await markUncertain(trx, unread, { block: slice.to, completeTo: slice.from - 1 });
  const read = slice.foreignHoldings.flatMap(({ quantity, ...key }) =>
    quantity === null ? [] : [{ ...key, quantity, sinceBlock: slice.to }],
  );
  // An app may have stopped following the contract since the slice was read.
  const known = await followedAmong(trx, read);
  await removeMarks(trx, known, slice.to);
  await setHoldings(trx, known, counters);
}

/** The contracts whose collections the slice may change. */
function collectionsOf({ batches, cancelled, entries, edits }: SliceToStore): string[] {
  const requests = [...batches.flatMap(({ outcomes }) => outcomes), ...cancelled];
  return [
    ...requests.flatMap(({ request: { command } }) => ("collection" in command ? [command.collection] : [])),
    ...entries.flatMap(({ move, kind }) => (kind === "foreign" ? [] : [move.contract])),
    ...edits.map(({ contract }) => contract),
  ];
}
