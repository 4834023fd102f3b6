import type { ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { ChainUnavailable, NodeDisagrees, NodesDivided } from "../chain/errors.ts";
import type { NodeVote } from "../chain/nodes.ts";
import type { Database } from "../store/db/database.ts";
import { agreedBlock, firstUnsettled, isAnythingUndecided, storedBlock } from "../store/ledger/blocks.ts";
import type { IndexedContracts } from "../store/ledger/indexed-contracts.ts";
import { type ChainRange, readDigests } from "./read-range.ts";
import { isSameSet, type LogSet, UnprovenLogs } from "./unproven-logs.ts";

interface AgreementDeps {
  database: Database;
  client: ChainClient;
  /** A block is deep enough once it is this many blocks deep, itself included. */
  confirmations: number;
  /** Reads them anew: another process may have added a factory. */
  contracts: () => Promise<ContractAddresses>;
  indexed: () => Promise<IndexedContracts>;
  /** Whether receipts prove all blocks that were stored since the last final one. */
  isProven: () => Promise<boolean>;
}

/** While nothing waits to become final, a block is compared only when it is at least this many blocks after the last one. */
const COMPARED_TOGETHER = 16;
/** At most this many blocks become final at once. */
const MOST_COMPARED = 1_000;
/** Block hashes kept beyond those that the confirmations need. A reorg up to this much deeper is still detected. */
const REMEMBER = 256;
/** Milliseconds for which different blocks of the nodes are not reported: a reorg does not reach all nodes at once. */
const GRACE = 10_000;

/** What a node says about a block. */
interface Answer {
  hash: string;
  /** The logs up to it that receipts do not prove; null: there are none, or the hash is another one already. */
  logs: LogSet | null;
}

/** The newest block of a node that has not reached the block. */
type Late = number;

/** Nodes that say the same. */
interface Side {
  answer: Answer;
  nodes: number[];
}

/** `agreed`: the block is final. `waits`: nobody has decided yet. `contradicted`: most nodes say something else. */
type Verdict = { kind: "agreed" } | { kind: "waits" } | Contradicted;

export interface Contradicted {
  kind: "contradicted";
  block: number;
  /** The nodes of the minority. */
  nodes: readonly number[];
}

/** What is final of the stored blocks, and what follows from that for those after them. */
export interface Final {
  kind: "final";
  /** The newest final block: deep enough, and the nodes agree about it. */
  confirmed: number;
  /** Whether stored blocks are deep enough, and the nodes have not agreed about them. Then nothing later becomes final. */
  isWaiting: boolean;
  /** What undoes a block is kept until the block is final: the first block whose header is kept. */
  remember: number;
  /** Whether more stored blocks can be compared right away. */
  more: boolean;
}

/** Stored blocks must be rolled back, and read again. */
export interface Undo {
  kind: "undo";
  /** The last block that stays: the nodes agreed about it. */
  downTo: number;
  /** What most nodes say is wrong. Null: nobody knows which logs another process read of the blocks that are not final. */
  contradicted: Contradicted | null;
}

const AGREED: Verdict = { kind: "agreed" };

/**
 * Decides which blocks are final: those that are deep enough, up to the newest one about which the nodes agree. The hash of a block
 * stands for all blocks before it and, by their receipts, for all of their logs, so a majority for one hash decides. Only where
 * receipts prove nothing, the nodes are also asked for the logs. With one node nothing is compared, and no call is made.
 */
export class Agreement {
  readonly #deps: AgreementDeps;
  readonly #unproven = new UnprovenLogs();
  /** The newest block that two nodes have. One node alone decides about what succeeded, but not about failures. */
  #byTwo = -1;
  /** Nodes that contradicted each other without a majority. That does not end because one of them stops answering. */
  #divided: readonly number[] = [];
  #waits: { since: number; reason: string } | null = null;
  /** The next comparison ends at this block: nodes that are late have it. */
  #reached: number | null = null;
  /**
   * The checkpoint as this process has left it. If the database has another one, blocks that are not final may be of another process,
   * or of a commit whose end this process has not seen. Null: this process has not looked yet.
   */
  #checkpoint: number | null = null;
  /** When the node that is read was first seen to have another block at the checkpoint, as half of the nodes. */
  #splitSince: number | null = null;

  constructor(deps: AgreementDeps) {
    this.#deps = deps;
  }

  /** Why nothing more becomes final; null while it does. */
  get problem(): string | null {
    if (this.#waits === null || performance.now() - this.#waits.since < GRACE) return null;
    return this.#waits.reason;
  }

  /** Failures in later blocks wait for a second node. */
  get failuresUpTo(): number {
    return this.#deps.client.nodes.count === 1 ? Infinity : this.#byTwo;
  }

  /** Blocks were stored. */
  stored(blocks: ChainRange): void {
    this.#unproven.add(blocks, this.#byTwo);
    this.#checkpoint = blocks.to;
  }

  /** Blocks above this one were undone. */
  rolledBack(fork: number): void {
    this.#byTwo = Math.min(this.#byTwo, fork);
    this.#unproven.keep({ upTo: fork });
    if (this.#checkpoint !== null) this.#checkpoint = Math.min(this.#checkpoint, fork);
  }

  /** Another process follows the chain, so nobody here compares blocks. */
  standBy(): void {
    this.#forget();
    this.#divided = [];
    this.#waits = this.#reached = this.#splitSince = null;
    this.#deps.client.nodes.agree();
  }

  /** What was stored since the last agreement may be of another process. */
  #forget(): void {
    this.#byTwo = -1;
    this.#unproven.keep({ upTo: -1 });
    this.#checkpoint = null;
  }

  /** The newest block that is deep enough to become final. */
  newestDeep(head: number): number {
    return head - this.#deps.confirmations + 1;
  }

  /**
   * What is final of the stored blocks. Those that are deep enough are compared, a part at a time. The node that is read has them: the
   * caller has looked.
   */
  async ofStored(checkpoint: number, head: number): Promise<Final | Undo> {
    const { database, client } = this.#deps;
    const deep = this.newestDeep(head);
    if (client.nodes.count === 1) return finalUpTo(deep, { before: deep, deep, checkpoint });
    const agreed = await agreedBlock(database.read, checkpoint);
    if (this.#checkpoint !== checkpoint) {
      this.#forget();
      const known = await this.#known(agreed);
      if (known < checkpoint) return { kind: "undo", downTo: known, contradicted: null };
      this.#checkpoint = checkpoint;
    }
    this.#splitSince = null;
    const to = Math.min(deep, checkpoint, agreed + MOST_COMPARED, this.#reached ?? Infinity);
    this.#reached = null;
    const block = (await this.#isDue(agreed, to)) ? await storedBlock(database.read, to) : undefined;
    const verdict = block === undefined ? null : await this.compare(to, block);
    if (verdict?.kind === "contradicted") return { kind: "undo", downTo: agreed, contradicted: verdict };
    return finalUpTo(verdict?.kind === "agreed" ? Math.max(agreed, to) : agreed, { before: agreed, deep, checkpoint });
  }

  /** Of the blocks after this one, another process may have stored logs that nobody can compare any more. */
  async #known(agreed: number): Promise<number> {
    const { read } = this.#deps.database;
    if (await this.#deps.isProven()) return Infinity;
    const waiting = await firstUnsettled(read, agreed);
    // What undoes a block is kept for some time after it is final.
    if (waiting === null || (await storedBlock(read, waiting - 1)) === undefined) return agreed;
    return Math.min(agreed, waiting - 1);
  }

  /**
   * What is final once a range is stored that was read: its deep blocks, too, unless stored ones wait or the nodes do not agree.
   * @param stored what is final without it.
   * @throws ChainUnavailable when they do not agree far behind the head: nothing is kept there to undo blocks.
   */
  async ofRead(
    range: ChainRange,
    head: number,
    stored: Final,
  ): Promise<Pick<Final, "kind" | "confirmed"> | Contradicted> {
    const deep = this.newestDeep(head);
    const isAsked = !stored.isWaiting && deep >= range.from;
    const last = Math.min(deep, range.to);
    const verdict = isAsked ? await this.compare(last, range.headers.get(last), range) : null;
    if (verdict?.kind === "contradicted") return verdict;
    if (verdict?.kind !== "agreed" && range.from < range.remember)
      throw new ChainUnavailable(this.#waits?.reason ?? "the nodes have not agreed yet");
    const waits = stored.isWaiting || verdict?.kind === "waits";
    return { kind: "final", confirmed: waits ? stored.confirmed : this.newestDeep(range.head) };
  }

  /**
   * The node that is read has another block at the checkpoint than the stored one. With several nodes, that counts as a reorg if
   * no other node has the stored block, or most have not. A node that most others contradict is put aside.
   * @returns false: half of the nodes have it, so nothing is stored or rolled back until they agree.
   * @throws NodeDisagrees, NodesDivided
   */
  async isReorg(checkpoint: number): Promise<boolean> {
    const { database, client } = this.#deps;
    if (client.nodes.count === 1) return true;
    const stored = await storedBlock(database.read, checkpoint);
    if (stored === undefined) return true;
    const hashAt = async () => (await client.blocks([checkpoint]))[0]?.hash ?? null;
    const votes = (await client.nodes.vote(hashAt, "working others")).filter(({ answer }) => answer !== null);
    const same = votes.filter(({ answer }) => answer === stored.hash).length;
    const other = votes.length - same + 1;
    if (same > other) {
      client.nodes.differ([client.nodes.number], checkpoint);
      throw new NodeDisagrees(
        `the node of ${client.nodes.where} has another block ${checkpoint.toString()} than the other nodes`,
      );
    }
    if (same < other) return true;
    this.#splitSince ??= performance.now();
    if (performance.now() - this.#splitSince < GRACE) return false;
    client.nodes.divide([client.nodes.number, ...votes.map(({ node }) => node)], checkpoint);
    throw new NodesDivided(checkpoint);
  }

  /** Whether it is time to ask about a stored block. */
  async #isDue(agreed: number, to: number): Promise<boolean> {
    const { mayAgreeAgain } = this.#deps.client.nodes;
    if (to - agreed >= COMPARED_TOGETHER || mayAgreeAgain.some(({ block }) => block <= to)) return true;
    return (to > agreed || to > this.#byTwo) && isAnythingUndecided(this.#deps.database.read);
  }

  /**
   * Asks the other nodes for a block, and where receipts prove nothing, all nodes for the logs up to it.
   * @param header the block as it was read. @param read blocks up to this one that were read and are not stored yet; null: none.
   */
  async compare(block: number, header: { hash: string } | undefined, read: ChainRange | null = null): Promise<Verdict> {
    const { client } = this.#deps;
    if (client.nodes.count === 1) return AGREED;
    if (header === undefined) throw new Error(`the header of block ${block.toString()} was not kept`);
    const { hash } = header;
    const [indexed, contracts] = [await this.#deps.indexed(), await this.#deps.contracts()];
    const logs = this.#unproven.question(block, indexed.foreignVersion, read);
    const ask = async (): Promise<Answer | Late | null> => {
      const [last = null] = await client.blocks([block]);
      if (last === null) {
        const head = await client.headNumber();
        return head < block ? head : null;
      }
      if (logs === null || last.hash !== hash) return { hash: last.hash, logs: null };
      const range = { from: logs.from, to: block, last };
      return { hash, logs: logs.of(await readDigests(client, contracts, indexed, range)) };
    };
    // The node that is read has this block. Which logs it had when they were read is not asked of it alone.
    const votes = await client.nodes.vote(ask, logs === null ? "others" : "all");
    const own: Side = { answer: { hash, logs: logs?.logs ?? null }, nodes: logs === null ? [client.nodes.number] : [] };
    const { sides, late } = this.#sorted(votes, own, block);
    const voters = sides.flatMap((side) => side.nodes);
    if (late.length <= voters.length) return this.#decide(sides, block, late);
    // One node that is ahead of the others, with blocks that it may have invented, does not decide it alone. What most nodes have is
    // compared before.
    const highestFirst = late.toSorted((one, other) => other - one);
    this.#reached = highestFirst[Math.ceil((late.length - voters.length) / 2) - 1] ?? null;
    return this.#wait(`block ${block.toString()} is not final: most nodes that answer have not reached it`);
  }

  /** @returns who says what, first those who say what was read, and the nodes that do not have the block yet. */
  #sorted(votes: readonly NodeVote<Answer | Late>[], own: Side, block: number): { sides: Side[]; late: Late[] } {
    const { nodes } = this.#deps.client;
    const mayReturn = nodes.mayAgreeAgain.filter((one) => one.block <= block).map(({ node }) => node);
    const sides = [own];
    const late: Late[] = [];
    for (const { node, answer, counts } of votes) {
      if (answer === null) continue;
      if (typeof answer === "number") {
        if (counts) late.push(answer);
        continue;
      }
      const side = sides.find((one) => isSame(one.answer, answer));
      // The word of a node that differed does not count until it has agreed for some time. Then it is read again.
      if (!counts) {
        if (side !== own) nodes.differ([node], block);
        else if (mayReturn.includes(node)) nodes.agree([node]);
      } else if (side === undefined) sides.push({ answer, nodes: [node] });
      else side.nodes.push(node);
    }
    return { sides, late };
  }

  #decide(sides: readonly Side[], block: number, late: readonly Late[]): Verdict {
    const { nodes } = this.#deps.client;
    const voters = sides.flatMap((side) => side.nodes);
    const largest = sides.toSorted((a, b) => b.nodes.length - a.nodes.length)[0];
    const hasAllDivided = this.#divided.every((node) => voters.includes(node));
    const of = hasAllDivided ? voters.length : Math.max(voters.length, nodes.count);
    // What was read counts as a vote, also if its node is silent now: it takes two others to say that it is wrong.
    const isAlone = largest !== sides[0] && largest?.nodes.length === 1;
    if (largest === undefined || isAlone || largest.nodes.length * 2 <= of)
      return this.#noMajority(voters, sides, block);
    this.#divided = [];
    const minority = voters.filter((node) => !largest.nodes.includes(node));
    nodes.differ(minority, block);
    if (largest !== sides[0]) return { kind: "contradicted", block, nodes: minority };
    const count = largest.nodes.length;
    if (count < nodes.agreement)
      return this.#wait(
        `block ${block.toString()} is not final: RPC_AGREEMENT asks for ${nodes.agreement.toString()} nodes that agree, and there are ` +
          `${count.toString()} now. Repair the others, or lower RPC_AGREEMENT`,
      );
    this.#waits = null;
    if (count === 1) this.#reached = late.length === 0 ? null : Math.max(...late);
    else {
      this.#byTwo = Math.max(this.#byTwo, block);
      this.#unproven.keep({ above: block });
    }
    return AGREED;
  }

  #noMajority(voters: readonly number[], sides: readonly Side[], block: number): Verdict {
    const speaking = sides.filter((side) => side.nodes.length > 0);
    if (voters.length === 0) return this.#wait(`no node says whether block ${block.toString()} is final`);
    if (speaking.length > 1) this.#divided = voters;
    const verdict = this.#wait(
      `the nodes contradict each other about block ${block.toString()}, and there is no majority: nothing from it on becomes final ` +
        "until they agree. Remove the node that is wrong from RPC_URLS",
    );
    // Blocks that differ may be a reorg on its way. Logs that differ are not.
    const isLie = speaking.filter(({ answer }) => answer.logs !== null).length > 1;
    if (speaking.length > 1 && (isLie || this.problem !== null)) this.#deps.client.nodes.divide(voters, block);
    return verdict;
  }

  #wait(reason: string): Verdict {
    this.#waits = { since: this.#waits?.since ?? performance.now(), reason };
    return { kind: "waits" };
  }
}

/** @param agreed up to which block the nodes agree now. @param before up to which they agreed before this step. */
function finalUpTo(
  agreed: number,
  { before, deep, checkpoint }: { before: number; deep: number; checkpoint: number },
): Final {
  const isWaiting = agreed < Math.min(deep, checkpoint);
  return {
    kind: "final",
    confirmed: Math.min(deep, agreed),
    isWaiting,
    remember: (isWaiting ? agreed : deep - 1) - REMEMBER,
    more: isWaiting && agreed > before,
  };
}

/** Whether two answers do not contradict each other. */
function isSame(one: Answer, other: Answer): boolean {
  if (one.hash !== other.hash) return false;
  return one.logs === null || other.logs === null || isSameSet(one.logs, other.logs);
}
