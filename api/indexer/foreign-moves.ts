import type { Held, HoldingQuery } from "../chain/foreign.ts";
import { decodeMoves, partiesOf, topicAddress } from "../chain/codec/decode.ts";
import { receiverOf, type WalletCommand } from "../domain/command.ts";
import { holdingKey, tokenKey, type TokenMove } from "../domain/token.ts";
import type { SliceToStore } from "../store/ledger/apply-range.ts";
import type { IndexedContracts } from "../store/ledger/indexed-contracts.ts";
import type { ChainRange } from "./read-range.ts";

/** Balances of one contract that are read together with the newest blocks. The others are read in the background. */
const MOST_OF_CONTRACT = 50;
/** At most this many balances of all contracts together are read with the newest blocks. */
const MOST_READS = 200;

/** Reads balances at the end of a block, by its number or hash. */
type ReadBalances = (queries: HoldingQuery[], block: number | string) => Promise<Held[]>;

/** Addresses that send or receive a token in a range, each once. */
export function partiesAmong(read: ChainRange): string[] {
  const topics = new Set(read.foreign.flatMap((log) => partiesOf(log) ?? []));
  const parties = new Set([...topics].map(topicAddress));
  for (const { from, to } of read.moves) {
    if (from !== null) parties.add(from);
    if (to !== null) parties.add(to);
  }
  return [...parties];
}

/** Decodes those logs of foreign contracts that concern a wallet of the service, and those of adopted ones. The others are dropped undecoded. */
export function movesToStore(
  { foreign: logs, indexed }: Pick<ChainRange, "foreign" | "indexed">,
  wallets: ReadonlyMap<string, unknown>,
): TokenMove[] {
  const known = new Set([...wallets.keys()].map((address) => `0x${address.slice(2).toLowerCase().padStart(64, "0")}`));
  const isAdopted = (contract: string) => indexed.foreign.get(contract)?.adopter != null;
  return logs
    .filter((log) => isAdopted(log.address) || partiesOf(log)?.some((topic) => known.has(topic)) === true)
    .flatMap(decodeMoves);
}

/**
 * The balances that a range's moves in foreign contracts have changed, each read from the contract itself, because its events
 * may be wrong. What cannot be read now is `null`, and is read in the background: a contract never holds up the range.
 * @param block null: nothing is read now.
 */
export async function readTouched(
  read: ReadBalances,
  block: number | null,
  indexed: IndexedContracts,
  moves: SliceToStore["entries"],
): Promise<{ holdings: SliceToStore["foreignHoldings"]; reads: SliceToStore["reads"] }> {
  const touched = new Map<string, HoldingQuery>();
  for (const { move, kind, type } of moves) {
    if (kind !== "foreign") continue;
    const { contract, tokenId } = move;
    for (const owner of move.historyOf ?? [])
      touched.set(holdingKey({ contract, tokenId, owner }), { contract, type, tokenId, owner });
  }
  const queries = [...touched.values()];
  const now = block === null ? [] : firstOf(queries, indexed);
  const held = block === null || now.length === 0 ? [] : await read(now, block);
  const answers = new Map(now.map((query, index) => [query, held[index]]));
  return {
    holdings: queries.map((query) => {
      const { contract, tokenId, owner } = query;
      const answer = answers.get(query);
      const unread = !answers.has(query) || answer === undefined || answer === "failed";
      // Nobody holds a token that does not exist.
      return { contract, tokenId, owner, quantity: unread ? null : (answer ?? 0n) };
    }),
    reads: readsOf(now, held),
  };
}

/** The first balances of each healthy contract. */
function firstOf(queries: readonly HoldingQuery[], indexed: IndexedContracts): HoldingQuery[] {
  const counts = new Map<string, number>();
  const first = queries.filter(({ contract }) => {
    const count = (counts.get(contract) ?? 0) + 1;
    counts.set(contract, count);
    return count <= MOST_OF_CONTRACT && indexed.foreign.get(contract)?.healthy === true;
  });
  return first.slice(0, MOST_READS);
}

/** A contract that answered at least one of its reads has not failed. */
export function readsOf(queries: readonly HoldingQuery[], held: readonly Held[]): SliceToStore["reads"] {
  const answered = new Set(
    queries.flatMap(({ contract }, index) => (held[index] === undefined || held[index] === "failed" ? [] : [contract])),
  );
  const failed = new Set(queries.flatMap(({ contract }, index) => (held[index] === "failed" ? [contract] : [])));
  return { answered: [...answered], failed: [...failed].filter((contract) => !answered.has(contract)) };
}

/** Commands of one range that are looked at. Each takes four reads. */
const MOST_COMMANDS = 50;

/** A transfer or burn of a token of others that ran in a batch. */
export interface RanCommand {
  requestId: string;
  command: WalletCommand;
  /** Hashes of its block and of that one's parent. A number could be another branch on another node. */
  block: { before: string; after: string };
}

/**
 * Some contracts move tokens without an event; others accept every call and move nothing. So the balances of sender and receiver
 * (of a burn: of its wallet) are compared before and after the block. A balance that cannot be read counts as moved, because then
 * only the relay's result is known.
 * @param commands without an event. @param read balances at the end of a block, by its hash.
 * @returns the ids of the requests that moved nothing.
 */
export async function unmovedAmong(commands: readonly RanCommand[], read: ReadBalances): Promise<Set<string>> {
  const unmoved = new Set<string>();
  // Two commands for one token in one block may cancel each other out.
  const tokenOf = ({ command, block }: RanCommand) => `${block.after}/${tokenKey(command)}`;
  const alone = [...Map.groupBy(commands, tokenOf).values()].flatMap((same) => (same.length === 1 ? same : []));
  const looked = alone.filter(({ command }) => command.from !== receiverOf(command)).slice(0, MOST_COMMANDS);
  for (const ran of Map.groupBy(looked, ({ block }) => block.after).values()) {
    const queriesOf = ran.map(({ command }) => {
      const { contract, contractType: type, tokenId } = command;
      const ends = [command.from, receiverOf(command)].filter((end) => end !== null);
      return ends.map((owner) => ({ contract, type, tokenId, owner }));
    });
    const queries = queriesOf.flat();
    const { block = { before: "", after: "" } } = ran[0] ?? {};
    const [before, after] = [await read(queries, block.before), await read(queries, block.after)];
    let next = 0;
    for (const [index, { requestId }] of ran.entries()) {
      const ends = queriesOf[index]?.map(() => next++) ?? [];
      if (ends.every((end) => typeof before[end] === "bigint" && before[end] === after[end])) unmoved.add(requestId);
    }
  }
  return unmoved;
}
