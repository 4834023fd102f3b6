import type { ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import type { NodeVote } from "../chain/node-choice.ts";
import type { Database } from "../store/db/database.ts";
import type { BlockRow } from "../store/db/schema.ts";
import { agreedBlock, blocksBetween, isAnythingUndecided } from "../store/ledger/blocks.ts";
import type { IndexedContracts } from "../store/ledger/indexed-contracts.ts";
import { type BlockDigest, digestAt, type LogDigests } from "./log-digests.ts";
import type { ReadBlocks } from "./read-ahead.ts";
import { readDigests } from "./read-range.ts";

interface AgreementDeps {
  database: Database;
  client: ChainClient;
  /** Reads them anew: another process may have added a factory. */
  contracts: () => Promise<ContractAddresses>;
  indexed: () => Promise<IndexedContracts>;
}

/** While nothing waits to become final, blocks are compared only when there are at least this many. */
const COMPARED_TOGETHER = 16;
/** Most stored blocks that are compared at once. */
const MOST_COMPARED = 1_000;
/** Most blocks about which a node that was outvoted is asked again. */
const MOST_AGAIN = 256;
/** Milliseconds for which different blocks of the nodes are not reported: a reorg does not reach all nodes at once. */
const GRACE = 10_000;

interface Range {
  from: number;
  to: number;
}

/** What the database has, or a node has just said, about a range of blocks. */
interface Told {
  /** Of the last block. null: not known. */
  hash: string | null;
  at: (block: number) => BlockDigest;
}

/** What a node says about the same range. */
interface Answer {
  hash: string;
  /** null: its last block is another one, so its logs do not matter. */
  digests: LogDigests | null;
}

/** The newest block of a node that has not reached the last block of the range. */
type Late = number;

/** `overruled`: most nodes say that what was told is wrong, from a block on. `waits`: nobody has decided yet. */
type Verdict = { kind: "agreed" | "waits" } | Overruled;

export interface Overruled {
  kind: "overruled";
  block: number;
  /** The nodes that were outvoted. */
  nodes: readonly number[];
}

/**
 * Decides up to which block the nodes agree: about its hash, and about the logs that the service reads up to it. With one
 * node nothing is compared, and no call or query is made.
 */
export class Agreement {
  readonly #deps: AgreementDeps;
  /** The stored blocks from this one on came from the node that is read now. null: not known for any block. */
  #toldFrom: number | null = null;
  /** Nodes that contradicted each other without a majority. The dispute does not end because one of them stops answering. */
  #dispute: readonly number[] = [];
  #waits: { since: number; reason: string } | null = null;
  /** The next comparison ends at this block, because most nodes have not reached the block that was compared last. */
  #reached: number | null = null;

  constructor(deps: AgreementDeps) {
    this.#deps = deps;
  }

  /** Why nothing more becomes final; null while it does. */
  get problem(): string | null {
    if (this.#waits === null || performance.now() - this.#waits.since < GRACE) return null;
    return this.#waits.reason;
  }

  /** Why the last comparison did not end in agreement. */
  get reason(): string | null {
    return this.#waits?.reason ?? null;
  }

  /** Another node is read from now on. */
  nodeChanged(): void {
    this.#toldFrom = null;
  }

  /** The blocks that are stored from this one on came from the node that is read now. */
  stored(from: number): void {
    this.#toldFrom ??= from;
  }

  /** Blocks above this one were undone. */
  rolledBack(fork: number): void {
    if (this.#toldFrom !== null && this.#toldFrom > fork) this.#toldFrom = fork + 1;
  }

  /** Another process follows the chain, so nobody here compares blocks. */
  standBy(): void {
    this.#toldFrom = this.#waits = this.#reached = null;
    this.#dispute = [];
    this.#deps.client.nodes.forgetVotes();
  }

  /**
   * Compares stored blocks that are deep enough to become final.
   * @returns the block up to which the nodes agree, the verdict about those after it, and whether more can be compared now.
   */
  async ofStored(checkpoint: number, final: number): Promise<{ agreed: number; verdict: Verdict; more: boolean }> {
    const { database, client } = this.#deps;
    if (client.nodes.count === 1) return { agreed: final, verdict: { kind: "agreed" }, more: false };
    await this.#askAgain(checkpoint, final);
    const agreed = await agreedBlock(database.read, checkpoint);
    const to = Math.min(final, checkpoint, agreed + MOST_COMPARED, this.#reached ?? Infinity);
    this.#reached = null;
    const few = to - agreed < COMPARED_TOGETHER;
    if (to <= agreed || (few && !(await isAnythingUndecided(database.read))))
      return { agreed, verdict: { kind: "agreed" }, more: false };
    const indexed = await this.#deps.indexed();
    const range = { from: agreed + 1, to };
    const told = toldBy(await blocksBetween(database.read, range.from, to), range, indexed);
    const verdict = await this.#compare(range, told, indexed);
    if (verdict.kind !== "agreed") return { agreed, verdict, more: false };
    return { agreed: to, verdict, more: to < Math.min(final, checkpoint) };
  }

  /** Compares blocks that were read and are not stored yet. */
  ofRead({ from, to, read, indexed }: ReadBlocks, final: number): Promise<Verdict> {
    const { digests } = read;
    if (digests === null) return Promise.resolve({ kind: "agreed" });
    const last = Math.min(final, to);
    const told = { hash: read.headers.get(last)?.hash ?? null, at: (block: number) => digestAt(digests, block) };
    return this.#compare({ from, to: last }, told, indexed, true);
  }

  /** @param isOfRead whether the node that is read now has just given these blocks. */
  async #compare(range: Range, told: Told, indexed: IndexedContracts, isOfRead = false): Promise<Verdict> {
    const { nodes } = this.#deps.client;
    const isItsWord = isOfRead || (this.#toldFrom !== null && this.#toldFrom <= range.from);
    // In a dispute it is asked again: it may have found out that it was wrong.
    const counts = isItsWord && this.#dispute.length === 0 && isKnown(told, range);
    const ask = await this.#question(range, told, indexed);
    const { votes, late } = split(await nodes.vote(ask, counts ? "others" : "all"));
    const own = votes.find(({ node }) => node === nodes.number)?.answer ?? null;
    const reference = completed(told, own);
    if (reference === null)
      return this.#wait("the node that is read does not have the blocks that are to become final");
    const { same, others } = sorted(votes, reference, range, (node, block) => {
      nodes.outvote([node], block);
    });
    if (counts) same.push(nodes.number);
    const answered = same.length + others.reduce((sum, side) => sum + side.nodes.length, 0);
    if (late.length > answered) return this.#waitFor(late, answered, range);
    return this.#decide(same, others, range);
  }

  /**
   * Most nodes that answer do not have the block. One that is ahead of the others, with blocks that it may have invented, does not
   * decide it alone. What most nodes have is compared before.
   */
  #waitFor(late: readonly Late[], answered: number, { to }: Range): Verdict {
    const highestFirst = late.toSorted((a, b) => b - a);
    this.#reached = highestFirst[Math.ceil((late.length - answered) / 2) - 1] ?? null;
    return this.#wait(`block ${to.toString()} is not final: most nodes that answer have not reached it`);
  }

  #decide(same: readonly number[], others: readonly Side[], { to }: Range): Verdict {
    const { nodes } = this.#deps.client;
    const voters = [...same, ...others.flatMap((side) => side.nodes)];
    const isSettled = this.#dispute.every((node) => voters.includes(node));
    const decides = (votes: number) =>
      votes * 2 > voters.length && (isSettled || votes * 2 > nodes.count) ? votes : 0;
    const block = Math.min(to, ...others.map((side) => side.block));
    const largest = others.toSorted((a, b) => b.nodes.length - a.nodes.length)[0];
    if (decides(same.length) > 0) {
      this.#dispute = [];
      for (const side of others) nodes.outvote(side.nodes, side.block);
      if (same.length >= nodes.agreement) {
        this.#waits = null;
        return { kind: "agreed" };
      }
      return this.#wait(
        `block ${to.toString()} is not final: RPC_AGREEMENT asks for ${nodes.agreement.toString()} nodes that agree, and there are ` +
          `${same.length.toString()} now. Repair the others, or lower RPC_AGREEMENT`,
      );
    }
    if (largest !== undefined && decides(largest.nodes.length) > 0) {
      this.#dispute = [];
      const outvoted = voters.filter((node) => !largest.nodes.includes(node));
      nodes.outvote(outvoted, block);
      return { kind: "overruled", block, nodes: outvoted };
    }
    if (others.length > 0) {
      this.#dispute = voters;
      const problem = this.#wait(dividedAbout(block));
      // Blocks that differ may be a reorg on its way. Logs that differ are not.
      if (this.problem !== null || others.some(({ answer }) => answer.digests !== null)) nodes.disagree(block, voters);
      return problem;
    }
    if (this.#dispute.length > 0) return this.#wait(dividedAbout(block));
    return this.#wait(`no node says whether block ${to.toString()} is final`);
  }

  #wait(reason: string): Verdict {
    this.#waits = { since: this.#waits?.since ?? performance.now(), reason };
    return { kind: "waits" };
  }

  /** A node that was outvoted is read again once it agrees about what is stored. */
  async #askAgain(checkpoint: number, final: number): Promise<void> {
    const { database, client } = this.#deps;
    const due = client.nodes.outvoted.filter(({ height }) => height <= checkpoint);
    if (due.length === 0) return;
    const indexed = await this.#deps.indexed();
    for (const { node, height } of due) {
      // Blocks that are not final are left out if possible: the node may have others, or not have them yet.
      const to = Math.max(height, Math.min(checkpoint, final));
      const range = { from: Math.max(height, to - MOST_AGAIN + 1), to };
      const told = toldBy(await blocksBetween(database.read, range.from, range.to), range, indexed);
      const ask = await this.#question(range, told, indexed);
      const { votes } = split(
        await client.nodes.vote(() => (client.nodes.number === node ? ask() : Promise.resolve(null)), "others"),
      );
      const answer = votes.find((vote) => vote.node === node)?.answer ?? null;
      const block = answer === null ? null : difference(told, answer, range);
      if (block !== null) client.nodes.outvote([node], block);
      else if (answer !== null) client.nodes.reinstate([node]);
    }
  }

  async #question(
    { from, to }: Range,
    { hash }: Told,
    indexed: IndexedContracts,
  ): Promise<() => Promise<Answer | Late | null>> {
    const { client } = this.#deps;
    const contracts = await this.#deps.contracts();
    return async () => {
      const [last = null] = await client.blocks([to]);
      if (last === null) {
        const head = await client.headNumber();
        return head < to ? head : null;
      }
      if (hash !== null && last.hash !== hash) return { hash: last.hash, digests: null };
      return { hash: last.hash, digests: await readDigests(client, contracts, indexed, { from, to, last }) };
    };
  }
}

function dividedAbout(block: number): string {
  return (
    `the nodes contradict each other about block ${block.toString()}, and there is no majority: nothing from it on becomes final ` +
    "until they agree. Remove the node that is wrong from RPC_URLS"
  );
}

/** @returns `late`: the nodes that do not have the block yet, without those that were outvoted. */
function split(said: readonly NodeVote<Answer | Late>[]): { votes: NodeVote<Answer>[]; late: Late[] } {
  const late: Late[] = [];
  const votes = said.map(({ answer, ...vote }) => {
    if (typeof answer !== "number") return { ...vote, answer };
    if (!vote.outvoted) late.push(answer);
    return { ...vote, answer: null };
  });
  return { votes, late };
}

/** Nodes that say the same, and something else than what was told. */
interface Side {
  nodes: number[];
  /** The first block that differs. */
  block: number;
  answer: Answer;
}

/** @param contradicts is called for each node that was outvoted before, and does not agree yet. */
function sorted(
  votes: readonly NodeVote<Answer>[],
  told: Told,
  range: Range,
  contradicts: (node: number, block: number) => void,
): { same: number[]; others: Side[] } {
  const same: number[] = [];
  const others: Side[] = [];
  for (const { node, answer, outvoted } of votes) {
    if (answer === null) continue;
    const block = difference(told, answer, range);
    if (outvoted) {
      if (block !== null) contradicts(node, block);
    } else if (block === null) same.push(node);
    else {
      const side = others.find((one) => isSame(one.answer, answer, range));
      if (side === undefined) others.push({ nodes: [node], block, answer });
      else side.nodes.push(node);
    }
  }
  return { same, others };
}

/** The first block about which an answer differs from what was told; null: none. What is not known does not differ. */
function difference(told: Told, { hash, digests }: Answer, { from, to }: Range): number | null {
  if (digests === null || (told.hash !== null && told.hash !== hash)) return to;
  for (let block = from; block <= to; block++) {
    const [a, b] = [told.at(block), digestAt(digests, block)];
    if (differs(a.own, b.own) || differs(a.foreign, b.foreign)) return block;
  }
  return null;
}

function differs(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && a !== b;
}

/** Whether two answers do not contradict each other. */
function isSame({ hash, digests }: Answer, other: Answer, range: Range): boolean {
  if (digests === null) return hash === other.hash;
  return difference({ hash, at: (block) => digestAt(digests, block) }, other, range) === null;
}

function isKnown(told: Told, { from, to }: Range): boolean {
  for (let block = from; block <= to; block++) {
    const { own, foreign } = told.at(block);
    if (own === null || foreign === null) return false;
  }
  return told.hash !== null;
}

/** What was told, and where that is not known, what the node that is read now says. Null: it does not answer. */
function completed(told: Told, own: Answer | null): Told | null {
  const hash = told.hash ?? own?.hash ?? null;
  const digests = own?.digests ?? null;
  if (hash === null) return null;
  if (digests === null) return { ...told, hash };
  return {
    hash,
    at: (block) => {
      const [stored, said] = [told.at(block), digestAt(digests, block)];
      return { own: stored.own ?? said.own, foreign: stored.foreign ?? said.foreign };
    },
  };
}

const UNKNOWN: BlockDigest = { own: null, foreign: null };

/** The digest of foreign logs counts only if apps have followed the same contracts since. */
function toldBy(rows: readonly BlockRow[], { to }: Range, { foreignVersion }: IndexedContracts): Told {
  const version = `${foreignVersion.toString()}:`;
  const digests = new Map(
    rows.map(({ number, own_logs: own, foreign_logs: foreign }) => [
      number,
      { own, foreign: foreign?.startsWith(version) === true ? foreign.slice(version.length) : null },
    ]),
  );
  return { hash: rows.find(({ number }) => number === to)?.hash ?? null, at: (block) => digests.get(block) ?? UNKNOWN };
}
