import { type Cause, findCauses } from "../chain/failed-calls.ts";
import { ChainUnavailable } from "../chain/errors.ts";
import { type Held, type HoldingQuery, readHoldings } from "../chain/foreign.ts";
import { readRelayOwner } from "../chain/reads.ts";
import { isDelegated } from "../domain/command.ts";
import { answersInTime } from "../shared/answers-in-time.ts";
import { readMeta } from "../store/db/meta.ts";
import type { AttributedSlice, SliceToStore } from "../store/ledger/apply-range.ts";
import { firstNonces } from "../store/sending/lanes.ts";
import type { Owners } from "./attribute-range.ts";
import type { IndexerContext } from "./context.ts";
import { agreedReceipts, costIn } from "./costs.ts";
import { explainFailures, type FailedItem } from "./explain-failures.ts";
import { type RanCommand, readTouched, unmovedAmong } from "./foreign-moves.ts";
import type { ChainRange } from "./read-range.ts";

/** Milliseconds for the reads of foreign contracts that belong to the newest blocks. The others are read in the background. */
const FOREIGN_DEADLINE = 2_000;

/**
 * Adds what only a node, that of the session, can say of a slice: what the batches cost, why calls failed, what wallets hold of
 * foreign contracts, the owner of new collections, and whether a lane sent a transaction that the database does not know.
 */
export async function addNodeFacts(
  context: IndexerContext,
  range: ChainRange,
  attributed: AttributedSlice,
  owners: Owners,
): Promise<SliceToStore> {
  const costed = await withCosts(context, range, attributed.batches);
  const judged = await failUnmoved(context, range, costed, owners);
  const batches = await explainFailures(context.client, causeFinder(context), range, judged);
  // Below the head, later blocks may change the same balances again, and the node may no longer have the state.
  const block = range.to === range.head ? range.to : null;
  const foreign = await readTouched(balanceReader(context), block, range.indexed, attributed.entries);
  return {
    ...attributed,
    batches,
    relayOwner: await ownerOfNew(context, batches),
    foreignHoldings: foreign.holdings,
    reads: foreign.reads,
    unknownTransaction: await unknownOfLanes(context, range, batches),
  };
}

/** The batches with what they cost. Where the node shows no receipt, the cost is read later. */
async function withCosts(
  { client }: IndexerContext,
  { headers }: ChainRange,
  batches: SliceToStore["batches"],
): Promise<SliceToStore["batches"]> {
  if (batches.length === 0) return batches;
  const receipts = await agreedReceipts(
    client,
    batches.map((batch) => batch.transactionHash),
  );
  return batches.map((batch, index) => {
    const hash = headers.get(batch.blockNumber)?.hash ?? "";
    const cost = costIn(receipts[index], { number: batch.blockNumber, hash });
    return cost === null ? batch : { ...batch, cost };
  });
}

/** Reads what wallets hold of foreign contracts at the end of a block. All reads together have one deadline. */
function balanceReader({ client, foreignCallGas: gas }: IndexerContext) {
  let abort: AbortSignal | null = null;
  return (queries: HoldingQuery[], block: number | string): Promise<Held[]> => {
    abort ??= AbortSignal.timeout(FOREIGN_DEADLINE);
    return readHoldings(client, queries, { gas, block, abort });
  };
}

/** Asks why calls failed, on the state before their block. All questions together have one deadline. */
function causeFinder({ client, contracts }: IndexerContext) {
  let deadline: number | null = null;
  return (calls: readonly FailedItem[], parentHash: string): Promise<(Cause | undefined)[]> => {
    deadline ??= performance.now() + FOREIGN_DEADLINE;
    const left = Math.max(0, Math.round(deadline - performance.now()));
    return answersInTime(calls, left, (part, abort) =>
      findCauses(client, contracts, part, { block: parentHash, abort }),
    );
  };
}

/**
 * Fails transfers and burns through a delegate whose call succeeded and moved nothing. Another node must say so, too.
 * Where the events of a contract were not read, the relay's result counts.
 */
async function failUnmoved(
  context: IndexerContext,
  { headers, indexed, flooding }: ChainRange,
  batches: SliceToStore["batches"],
  owners: Owners,
): Promise<SliceToStore["batches"]> {
  const seen = new Set([...owners.values()].map(({ id }) => id));
  const ran = batches.flatMap(({ outcomes, blockNumber }) => {
    const header = headers.get(blockNumber);
    if (header === undefined) return [];
    const block = { before: header.parentHash, after: header.hash };
    return outcomes.flatMap(({ request: { id, command }, outcome }) =>
      outcome.ok && isDelegated(command) && !seen.has(id) ? [{ requestId: id, command, block }] : [],
    );
  });
  if (ran.length === 0) return batches;
  // The service's own collections have an event for everything, also for what a wallet does through its delegate.
  const isOwn = ({ command }: RanCommand) => indexed.collections.has(command.contract);
  const areEventsRead = ({ command: { contract } }: RanCommand) =>
    indexed.foreign.get(contract)?.healthy === true && !flooding.has(contract);
  const others = ran.filter((one) => !isOwn(one) && areEventsRead(one));
  const read = balanceReader(context);
  const said = await unmovedAmong(others, read);
  const again = said.size === 0 ? said : await context.client.nodes.second(() => unmovedAmong(others, read));
  const unmoved = new Set([...said].filter((id) => again === null || again.has(id)));
  for (const one of ran.filter(isOwn)) unmoved.add(one.requestId);
  const outcome = { ok: false, errorCode: "nothing_moved", errors: null } as const;
  return batches.map((batch) => ({
    ...batch,
    outcomes: batch.outcomes.map((decided) => (unmoved.has(decided.request.id) ? { ...decided, outcome } : decided)),
  }));
}

/** The relay's owner also owns a new collection that names no other owner. */
async function ownerOfNew({ client, contracts }: IndexerContext, batches: SliceToStore["batches"]): Promise<string> {
  const isNeeded = batches.some(({ outcomes }) =>
    outcomes.some(
      ({ request: { command }, outcome }) =>
        command.kind === "create-collection" && outcome.ok && command.newOwner === null,
    ),
  );
  if (!isNeeded) return contracts.relay;
  const owner = await readRelayOwner(client, contracts.relay);
  if (owner === null) throw new ChainUnavailable(`the node has no relay contract at ${contracts.relay}`);
  return owner;
}

/**
 * Finds a transaction that this database's lanes have sent although the database does not know it. Then the database is an
 * older copy, or another service uses the same seed. What a lane sent before this database first used it does not count, and
 * neither does what it signed for another chain or contract: a node may name any transaction of which it has heard.
 * @returns the first one; null when there is none.
 */
async function unknownOfLanes(
  { database, client, contracts }: IndexerContext,
  { relay }: ChainRange,
  batches: SliceToStore["batches"],
): Promise<SliceToStore["unknownTransaction"]> {
  const known = new Set(batches.map(({ transactionHash }) => transactionHash));
  const executed = relay.filter(
    ({ kind, transactionHash }) => kind === "batch-executed" && !known.has(transactionHash),
  );
  if (executed.length === 0) return null;
  const blocks = new Map(executed.map(({ transactionHash, blockNumber }) => [transactionHash, blockNumber]));
  const first = await firstNonces(database.read);
  const chainId = await readMeta(database.read, "chain_id");
  const transactions = await client.transactions([...blocks.keys()]);
  for (const [index, [hash, blockNumber]] of [...blocks].entries()) {
    const transaction = transactions[index];
    if (transaction === null)
      throw new ChainUnavailable("the node does not have a transaction whose logs it returned: it is not in sync");
    if (transaction?.to !== contracts.relay || transaction.chainId.toString() !== chainId) continue;
    const since = first.get(transaction.from ?? "");
    if (since !== undefined && transaction.nonce >= since) return { hash, blockNumber };
  }
  return null;
}
