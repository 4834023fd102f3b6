import { sql } from "kysely";

import type { CollectionKind, CollectionType } from "../../domain/command.ts";
import type { Cost } from "../../domain/cost-shares.ts";
import { CounterDeltas } from "../db/counters.ts";
import { checkpointOf, readMeta, replaceMeta, writeMeta } from "../db/meta.ts";
import type { BlockRow } from "../db/schema.ts";
import { lockCollections, rowSet, type Trx } from "../db/sql.ts";
import { insertCollections } from "../listings/collections.ts";
import type { HoldingKey } from "../../domain/token.ts";
import { correctFinal, type FinalBlocks, settleFinal } from "../requests/settle-final.ts";
import { costOfBatch, recordCosts } from "../requests/costs.ts";
import { chargeAgain } from "../requests/gas-usage.ts";
import { releaseReservations } from "../requests/reservations.ts";
import { type DecidedRequest, madeBy, type StoredRequest } from "../requests/requests.ts";
import { returnUntouched } from "../sending/close-batch.ts";
import { rememberBlocks, storedBlock } from "./blocks.ts";
import { applyEdits, type ChainEdit, forgetEdits } from "./chain-edits.ts";
import { forgetForeign } from "./indexed-contracts.ts";
import { hiddenFrom, hideFrom, showHidden } from "./hidden-history.ts";
import { countHistory, insertHistory, type StoredMove } from "./history.ts";
import { HoldingSet, setHoldings } from "./holding-set.ts";
import { type MintContent, TokenSet } from "./token-set.ts";
import { followedAmong, markUncertain, removeMarks } from "./uncertain.ts";

/** A range of blocks, read and attributed: everything that one database transaction stores. */
export interface BlockRange extends FinalBlocks {
  from: number;
  to: number;
  /** Hash of the block before the range. The range is refused if the stored block has another hash. */
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
  /** A batch on chain that a lane sent and this database does not know: the database is an old copy. Null: none. */
  unknownTransaction: { hash: string; blockNumber: number } | null;
  /** Requests whose number was cancelled, with the transaction that did it. */
  cancelled: { request: StoredRequest; transactionHash: string; blockNumber: number }[];
  /** Token movements in the service's collections and in foreign contracts, in the order of the chain. */
  moves: { move: StoredMove; type: CollectionType; foreign: boolean; mintedBy: StoredRequest | null }[];
  /** The first row of the history of `moves`, if that is stored already and hidden: see `storeHistoryPart`. */
  historyFrom?: number;
  changes: ChainEdit[];
  /** Balances of wallets in foreign contracts, as the contracts report them; null: to be read in the background. */
  foreignHoldings: { contract: string; tokenId: string; owner: string; quantity: bigint | null }[];
  /** Senders and recipients of the movements that are wallets of the service. */
  wallets: Set<string>;
  /** Headers below this block are deleted. */
  forgetBlocksBefore: number;
}

/** Data of a new collection that only the chain client knows. */
export interface CreationFacts {
  relayOwner: string;
  /** What their factories decided, by address. */
  kinds: ReadonlyMap<string, CollectionKind>;
}

/**
 * Stores a range: ownership, history, outcomes, settled requests, outgoing events and the checkpoint, all in the
 * caller's transaction, which has locked the ledger.
 * @returns the requests that became final; null when another process has stored these blocks or rolled back earlier ones,
 *   so that nothing is changed.
 */
export async function applyRange(
  trx: Trx,
  range: BlockRange,
  facts: CreationFacts,
  now: number,
): Promise<DecidedRequest[] | null> {
  if (!(await follows(trx, range)) || (await hiddenFrom(trx)) !== (range.historyFrom ?? null)) return null;
  const moved = await replaceMeta(trx, "checkpoint", (range.from - 1).toString(), range.to.toString());
  if (!moved) return null;
  await lockCollections(trx, collectionsOf(range));
  // Far behind the head no headers are stored, so there are none to forget.
  const remembers = range.blocks.length > 0;
  if (remembers) await rememberBlocks(trx, range.blocks, range.forgetBlocksBefore);
  const counters = new CounterDeltas();
  for (const one of range.cancelled) await applyCancellation(trx, one, now);
  for (const batch of range.batches) await applyOutcomes(trx, batch, facts, counters, now);
  await recordCosts(trx, range.batches.flatMap(costOfBatch), counters);
  if (range.unknownTransaction !== null) await markUnknown(trx, range.unknownTransaction);
  await applyMoves(trx, range, counters);
  await applyForeign(trx, range, counters);
  await applyEdits(trx, range.changes);
  if (remembers) await forgetEdits(trx, range.forgetBlocksBefore);
  await counters.flush(trx);
  const hasOutcomes = range.batches.length + range.cancelled.length > 0;
  // No outcome is new, and no block has become final since the last commit.
  if (!hasOutcomes && (await readMeta(trx, "confirmed_block")) === range.confirmed.toString()) return [];
  return settleFinal(trx, range, now);
}

/** Whether the stored block before the range is its parent. */
async function follows(trx: Trx, { from, parentHash }: Pick<BlockRange, "from" | "parentHash">): Promise<boolean> {
  const previous = await storedBlock(trx, from - 1);
  return previous === undefined || previous.hash === parentHash;
}

/**
 * Stores a part of the history of a range that is too large for one commit, hidden until `applyRange` stores the rest of the range.
 * The caller's transaction has locked the ledger.
 * @param first the first row of the parts before; null: this is the first part.
 * @returns the first row of all parts; null when nothing was stored, as with `applyRange`.
 */
export async function storeHistoryPart(
  trx: Trx,
  range: Pick<BlockRange, "from" | "parentHash" | "wallets">,
  moves: BlockRange["moves"],
  first: number | null,
): Promise<number | null> {
  if (!(await follows(trx, range)) || (await hiddenFrom(trx)) !== first) return null;
  if ((await checkpointOf(trx)) !== range.from - 1) return null;
  const row = await insertHistory(
    trx,
    moves.map(({ move }) => move),
    range.wallets,
  );
  if (first !== null || row === null) return first;
  await hideFrom(trx, row);
  return row;
}

/** The first one that is found stays. A roll-back of its block removes it: that finds later ones again. */
async function markUnknown(
  trx: Trx,
  { hash, blockNumber }: NonNullable<BlockRange["unknownTransaction"]>,
): Promise<void> {
  if ((await readMeta(trx, "unknown_transaction")) !== null) return;
  await writeMeta(trx, "unknown_transaction", hash);
  await writeMeta(trx, "unknown_transaction_block", blockNumber.toString());
}

/** Stores the outcomes of a batch's calls. A final request is corrected; the others settle once they are deep enough. */
async function applyOutcomes(
  trx: Trx,
  batch: BlockRange["batches"][number],
  facts: CreationFacts,
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
  for (const settled of batch.outcomes) {
    if (!stored.has(settled.request.id)) await correctFinal(trx, settled, batch, now);
  }
  const fresh = batch.outcomes.filter(({ request }) => stored.has(request.id));
  await releaseReservations(
    trx,
    fresh.map(({ request, outcome }) => ({ command: request.command, happened: outcome.ok })),
  );
  await addCollections(trx, fresh, { batch, facts, counters });
  // If some calls ran, the batch's gas ran low before the others. They are not the cause, and are first in the next batch.
  await returnUntouched(trx, batch.untouched, batch.batchId, now, { counts: batch.outcomes.length === 0 });
}

/** Fails a request whose number was cancelled, unless its outcome is known. Later batches have skipped the number. */
async function applyCancellation(trx: Trx, cancelled: BlockRange["cancelled"][number], now: number): Promise<void> {
  const { request } = cancelled;
  const outcome = { ok: false, errorCode: "number_taken", errors: null } as const;
  const stored = await storeOutcomes(trx, { ...cancelled, outcomes: [{ request, outcome }] }, now);
  if (!stored.has(request.id)) return;
  await releaseReservations(trx, [{ command: request.command, happened: false }]);
  await chargeAgain(trx, [request]);
}

/** @returns the ids of the requests that were not final and now have their outcome. */
async function storeOutcomes(
  trx: Trx,
  batch: Pick<BlockRange["batches"][number], "outcomes" | "transactionHash" | "blockNumber">,
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
  settled: readonly DecidedRequest[],
  { batch, facts, counters }: { batch: BlockRange["batches"][number]; facts: CreationFacts; counters: CounterDeltas },
): Promise<void> {
  const made = settled.flatMap(({ request, outcome }) => {
    const { command } = request;
    if (!outcome.ok || command.kind !== "create-collection" || outcome.collection === null) return [];
    const { collection: address } = outcome;
    const owner = command.newOwner ?? facts.relayOwner;
    const kind = facts.kinds.get(address) ?? UNKNOWN_KIND;
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
async function applyMoves(
  trx: Trx,
  { moves, wallets, historyFrom }: BlockRange,
  counters: CounterDeltas,
): Promise<void> {
  const history = moves.map(({ move }) => move);
  if (historyFrom === undefined) await insertHistory(trx, history, wallets);
  else await showHidden(trx);
  countHistory(history, wallets, counters);
  // A transfer of a wallet to itself changes no holding.
  const own = moves.filter(({ foreign, move }) => !foreign && move.from !== move.to);
  if (own.length === 0) return;
  const tokens = await TokenSet.read(
    trx,
    own.filter(({ move }) => move.from === null || move.to === null).map(({ move }) => move),
  );
  const holdings = await HoldingSet.read(trx, own.flatMap(endsOf));
  for (const { move, type, mintedBy } of own) {
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
async function applyForeign(trx: Trx, range: BlockRange, counters: CounterDeltas): Promise<void> {
  const unread = range.foreignHoldings.filter(({ quantity }) => quantity === null);
  await markUncertain(trx, unread, { block: range.to, completeTo: range.from - 1 });
  const read = range.foreignHoldings.flatMap(({ quantity, ...key }) =>
    quantity === null ? [] : [{ ...key, quantity, sinceBlock: range.to }],
  );
  // An app may have stopped following the contract since the range was read.
  const known = await followedAmong(trx, read);
  await removeMarks(trx, known, range.to);
  await setHoldings(trx, known, counters);
}

/** The contracts whose collections the range may change. */
function collectionsOf({ batches, cancelled, moves, changes }: BlockRange): string[] {
  const requests = [...batches.flatMap(({ outcomes }) => outcomes), ...cancelled];
  return [
    ...requests.flatMap(({ request: { command } }) => ("collection" in command ? [command.collection] : [])),
    ...moves.flatMap(({ move, foreign }) => (foreign ? [] : [move.contract])),
    ...changes.map(({ contract }) => contract),
  ];
}
