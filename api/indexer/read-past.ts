import type { ChainClient } from "../chain/client.ts";
import { NodeDisagrees, NodesDivided } from "../chain/errors.ts";
import { RangeTooLarge } from "../chain/query-logs.ts";
import { MOST_ADOPTED_MOVES } from "../config/limits.ts";
import { crashPoint } from "../shared/crash-point.ts";
import type { Database } from "../store/db/database.ts";
import { checkpointOf, confirmedBlock } from "../store/db/meta.ts";
import type { ForeignContractRow } from "../store/db/schema-contracts.ts";
import type { Db } from "../store/db/sql.ts";
import { storePast } from "../store/ledger/adoptions.ts";
import { changeLeased, quarantine, type Quarantined } from "../store/ledger/contract-states.ts";
import { type IndexedContracts, readForeignContract } from "../store/ledger/indexed-contracts.ts";
import { attributePast } from "./attribute-range.ts";
import { type ChainRange, readDigests, readRange } from "./read-range.ts";
import { cut, type Slice } from "./slices.ts";
import { digestLogs, isSameSet } from "./unproven-logs.ts";

interface ReadPastDeps {
  database: Database;
  client: ChainClient;
  now: () => number;
}

/** Moves that one commit stores, but for those of a block that has more. */
const MOST_MOVES = 2_000;
/** A block with more moves of one contract is not read: all of its moves are stored in one commit. */
const MOST_OF_BLOCK = 20_000;
/** How long one process goes on with a contract, in milliseconds. Shorter than its lease. The contracts of other apps wait. */
const TURN = 2_000;
/** Milliseconds after which a contract is tried again that could not be stored. */
const PAUSE = 1_000;

/**
 * Reads the past of an adopted contract further, from its newest stored block up to the newest block of the database, for some
 * seconds. Whatever process dies at it, the next one goes on after the last part that was stored.
 * @returns the quarantine if it has too many moves.
 */
export async function readPast(
  deps: ReadPastDeps,
  leased: ForeignContractRow,
  abort: AbortSignal,
): Promise<Quarantined[]> {
  const { database, now } = deps;
  const returned = async (held: ForeignContractRow, dueAt: number) => {
    await database.write((trx) => changeLeased(trx, held, { due_at: dueAt }));
    return [];
  };
  const end = performance.now() + TURN;
  let contract = leased;
  while (performance.now() < end && !abort.aborted) {
    const held = contract;
    const next: ForeignContractRow | "floods" | null = await readFurther(deps, held);
    if (next === "floods")
      return database.write((trx) => quarantine(trx, [held.address], "flood", { asOf: 0, now: now() }));
    // Another process has it, or blocks are rolled back, or the history of a large block is being stored.
    if (next === null) return returned(held, now() + PAUSE);
    // It is read up to the newest block.
    if (next.state !== "reading") return [];
    contract = next;
  }
  return returned(contract, now());
}

async function readFurther(
  { database, client, now }: ReadPastDeps,
  contract: ForeignContractRow,
): Promise<ForeignContractRow | "floods" | null> {
  const from = (contract.as_of ?? 0) + 1;
  const [checkpoint, confirmed] = [await checkpointOf(database.read), await confirmedBlock(database.read)];
  if (contract.window_logs > MOST_ADOPTED_MOVES) return "floods";
  // Its first block, or the next one, is not stored yet.
  if (from > checkpoint) return null;
  const upTo = from <= confirmed ? Math.min(confirmed, checkpoint) : checkpoint;
  const range = await readBlocks(client, await indexedAlone(database.read, contract.address), {
    from,
    upTo,
    confirmed,
  });
  if (range.flooding.size > 0) return "floods";
  let current: ForeignContractRow | null = contract;
  for (let rest: ChainRange | null = range; rest !== null;) {
    const slice: Slice = cut(rest, MOST_MOVES);
    if (slice.size > MOST_OF_BLOCK) return "floods";
    const held: ForeignContractRow = current;
    const part = { ...(await attributePast(database, slice)), to: slice.to, hash: slice.headers.get(slice.to)?.hash };
    current = await database.write((trx) => storePast(trx, held, part, now()));
    if (current === null) return null;
    crashPoint("indexer:past");
    rest = slice.rest;
  }
  return current;
}

async function indexedAlone(db: Db, address: string): Promise<IndexedContracts> {
  const contract = await readForeignContract(db, address);
  if (contract === undefined) throw new Error(`nobody follows ${address}`);
  return { collections: new Map(), foreign: new Map([[address, contract]]), foreignVersion: 0 };
}

/**
 * @param upTo the last block that is wanted. The provider may accept fewer blocks. @param confirmed headers of later blocks are read,
 *   so that they can be compared with the stored ones.
 */
async function readBlocks(
  client: ChainClient,
  indexed: IndexedContracts,
  { from, upTo, confirmed }: { from: number; upTo: number; confirmed: number },
): Promise<ChainRange> {
  for (;;) {
    try {
      return await client.nodes.session(async () => {
        const to = Math.max(from, Math.min(upTo, from - 1 + client.logLimits.blocks.value));
        const [head, remember] = [await client.headNumber(), confirmed + 1];
        const range = await readRange(client, null, { from, to, head, remember, indexed, first: null });
        await confirm(client, range);
        return range;
      });
    } catch (error) {
      // The limit is lower now.
      if (!(error instanceof RangeTooLarge)) throw error;
    }
  }
}

/**
 * What is read here is stored as final, so another node, if there is one, must have the same logs. If it has not, the majority counts.
 * @throws NodesDivided, NodeDisagrees
 */
async function confirm(client: ChainClient, { from, to, foreign, indexed, flooding }: ChainRange): Promise<void> {
  if (flooding.size > 0) return;
  const own = await digestLogs([], foreign);
  const compare = async () => {
    const [last = null] = await client.blocks([to]);
    if (last === null) return null;
    const other = await readDigests(client, null, indexed, { from, to, last });
    for (let block = from; block <= to; block++) if (!isSameSet(own(block), other(block))) return { differsAt: block };
    return { differsAt: null };
  };
  const votes = (await client.nodes.vote(compare, "working others")).flatMap(({ answer }) => answer ?? []);
  const differing = votes.flatMap(({ differsAt }) => differsAt ?? []);
  if (differing.length === 0) return;
  const [block, against] = [Math.min(...differing), differing.length];
  const same = votes.length - against + 1;
  if (same === against) throw new NodesDivided(block);
  if (same < against)
    client.nodes.skip(new NodeDisagrees(`most nodes have other logs of the past, about block ${block.toString()}`));
}
