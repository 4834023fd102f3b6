import { AsyncLocalStorage } from "node:async_hooks";

import type { Condition } from "../domain/conditions.ts";
import { pause } from "../shared/pause.ts";
import { type ExpectedChain, WrongChain } from "./chain-guard.ts";
import { ChainNode, type NodeOptions, type NodeState } from "./chain-node.ts";
import {
  AnswerTooLarge,
  CallAborted,
  ChainUnavailable,
  classifyBroadcast,
  milderAnswer,
  NodeBehind,
  type NodeDisagrees,
  NodesDivided,
  RateLimited,
  RpcError,
} from "./errors.ts";
import type { RpcBounds, RpcCall, RpcResult } from "./rpc.ts";

/** How often the nodes are looked at, in milliseconds. No call is made unless there is a reason. */
const LOOK_EVERY = 250;
/** While every node is a few blocks behind the database, work waits up to `times` times for `each` milliseconds. */
const WAIT_BEHIND = { times: 10, each: 200 };
/** Shortest wait for a node's rate limit before all nodes are asked again, in milliseconds. */
const SHORTEST_WAIT = 50;
/**
 * A call that would wait longer than this for the rate limit of a node goes to another one, in milliseconds. Work that one node has
 * begun waits longer for the calls of others, but not longer while the provider accepts no call at all.
 */
const MOVE_ON_AFTER = 500;

/** A gas price above this many times the price of another node is not believed. */
const FAR_ABOVE = 2n;
/** Milliseconds for which the price of another node is used for this comparison. */
const PRICE_LASTS = 60_000;
/** Milliseconds between two lines of the log about the same difference. */
const REPORT_EVERY = 60_000;
/** How long it is reported that the nodes are divided, in milliseconds. */
const DIVIDED_LASTS = 60_000;
/** What nodes may contradict each other about while the work goes on. */
const DIFFERENCES = {
  costs:
    "nodes of the chain report different costs for the same transactions: the costs stay unknown until most nodes agree",
  gas: "nodes of the chain measure different gas costs of the service's calls: the figures of most nodes are used, or the last ones",
  fees: "a node of the chain names far higher fees than another one: the transactions pay what the others name",
} as const;
type Difference = keyof typeof DIFFERENCES;

/** How the nodes are, as this process has found them. */
export interface NodesState {
  /** Empty with one node. */
  states: readonly NodeState[];
  /** The height about which they disagree; null: they agree. */
  disagreement: number | null;
  /** Whether the provider of the only node limits the rate of calls now. Several nodes say so in their states. */
  isLimited: boolean;
}

/** What one node says when several are asked the same. */
export interface NodeVote<T> {
  /** Its place in the list, from 1. */
  node: number;
  /** Null: it does not answer. */
  answer: T | null;
  /** Whether its word counts. That of a node that differed from most others does not, until it has agreed for some time. */
  counts: boolean;
}

/** Who is asked: every node that answers, those but the one that is read, or of these only the ones that work (`up`). */
type Voters = "all" | "others" | "working others";

interface NodesOptions extends NodeOptions {
  /** Numbers of the nodes to which no transaction is sent. */
  readOnly?: readonly number[];
  /** How many nodes must agree about a block before it is final (`RPC_AGREEMENT`). 1: all that answer. */
  agreement?: number;
}

/**
 * The nodes of one chain, in order of preference. Reads go to the first that works. Work whose calls belong together is done by
 * one node (`session`). With one node, all of this costs nothing.
 */
export class Nodes {
  /** How many nodes the settings name. */
  readonly count: number;
  readonly agreement: number;
  readonly #nodes: readonly ChainNode[];
  /** The node of the session in which the code runs. */
  readonly #pinned = new AsyncLocalStorage<ChainNode>();
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #logger: NodeOptions["logger"];
  readonly #maxWait: number;
  /** The last price of gas that a second node named. */
  #price: { node: number; value: bigint; at: number } | null = null;
  /** The block about which nodes last differed without a majority, and when. */
  #divided: { block: number; at: number } | null = null;
  /** When a difference was last logged (monotonic clock). */
  readonly #reported = new Map<Difference, number>();

  constructor(urls: readonly string[], { readOnly = [], agreement = 1, ...options }: NodesOptions = {}) {
    const { maxWait = 0, logger } = options;
    this.count = urls.length;
    this.agreement = agreement;
    this.#logger = logger;
    this.#maxWait = maxWait;
    const isOne = this.count === 1;
    const maxRest = isOne ? maxWait : Math.min(maxWait, MOVE_ON_AFTER);
    this.#nodes = urls.map((url, index) => {
      const number = index + 1;
      const doesAnother = isOne ? null : () => this.#nodes.some((node) => node.number !== number && node.isUp);
      return new ChainNode(
        url,
        { number, sends: isOne || !readOnly.includes(number), doesAnother },
        { ...options, maxRest },
      );
    });
    if (!isOne)
      this.#timer = setInterval(() => {
        for (const node of this.#nodes) node.look();
      }, LOOK_EVERY).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const node of this.#nodes) node.stop();
  }

  /** The node that is read now: its place in the list, from 1. */
  get number(): number {
    return this.#read.number;
  }

  /** Where the operator set that node, for messages. */
  get where(): string {
    return this.count === 1 ? "RPC_URL" : `RPC_URLS (${this.#read.name})`;
  }

  /** What that node has shown about itself. */
  get learnt(): ChainNode["learnt"] {
    return this.#read.learnt;
  }

  /** Its URL, which may contain a provider's key. */
  get url(): string {
    return this.#read.url;
  }

  /** What is wrong when every node serves another chain than the database's; null otherwise. */
  get problem(): string | null {
    const problems = this.#nodes.map(({ guard }) => guard?.problem ?? null);
    return problems.every((one) => one !== null) ? problems.join(" ") : null;
  }

  /** From now on, the answers of each node count only while it serves this chain. */
  guardBy(expected: ExpectedChain): void {
    for (const node of this.#nodes) node.guardBy(expected, this.count === 1 ? null : node.name);
  }

  /** The chains that the nodes serve; null where one does not say. */
  chains(): Promise<{ name: string; chain: ExpectedChain | null }[]> {
    return Promise.all(
      this.#nodes.map(async (node) => ({ name: node.name, chain: await node.chain().catch(() => null) })),
    );
  }

  /** Results in the order of the calls. An error of one call does not affect the others. @throws ChainUnavailable */
  bundle(calls: RpcCall[], bounds: RpcBounds = {}): Promise<RpcResult[]> {
    const node = this.count === 1 ? this.#read : this.#pinned.getStore();
    if (node !== undefined) return node.bundle(calls, bounds);
    const wait = Math.min(bounds.wait ?? Infinity, MOVE_ON_AFTER);
    return this.session(() => this.#read.bundle(calls, { ...bounds, wait }));
  }

  /**
   * Work whose answers belong together: one node answers all of its calls. When that node fails, the whole work is done again
   * with the next one, so it must be safe to do it twice. Inside of another session, the node stays the same.
   */
  async session<T>(work: () => Promise<T>): Promise<T> {
    if (this.count === 1 || this.#pinned.getStore() !== undefined) return work();
    const tried = new Set<ChainNode>();
    let failure: unknown = null;
    let waits = 0;
    const until = performance.now() + this.#maxWait;
    for (;;) {
      const node = this.#next(tried);
      if (node === null) {
        const wait =
          failure instanceof RateLimited
            ? this.#waitForLimits(until)
            : failure instanceof NodeBehind && waits < WAIT_BEHIND.times
              ? WAIT_BEHIND.each
              : null;
        if (wait === null) throw failure;
        waits += 1;
        tried.clear();
        failure = null;
        await pause(wait);
        continue;
      }
      try {
        return await this.#pinned.run(node, work);
      } catch (error) {
        if (!isOfNode(error)) throw error;
        tried.add(node);
        failure = failure === null || tells(error) > tells(failure) ? error : failure;
      }
    }
  }

  /** Milliseconds until a node may have calls left for this work. Null: not before a time. */
  #waitForLimits(until: number): number | null {
    const now = performance.now();
    const at = Math.min(...this.#nodes.map(({ isUp, restUntil }) => (isUp ? now : Math.max(now, restUntil))));
    return at >= until ? null : Math.max(SHORTEST_WAIT, at - now);
  }

  /** Whether work that failed on a node with this error can be done again with another node now. */
  canMoveOn(error: unknown): boolean {
    if (this.count === 1 || !(error instanceof ChainUnavailable) || !isOfNode(error)) return false;
    const current = this.#pinned.getStore();
    return this.#nodes.some((node) => node !== current && node.isUp);
  }

  /** Whether another node has this height. */
  async isAnotherAt(height: number): Promise<boolean> {
    const others = this.#others().filter(({ isUp }) => isUp);
    await Promise.all(others.map((node) => node.probe()));
    return others.some(({ isUp, head }) => isUp && head !== null && head >= height);
  }

  /** Asks several nodes at the same time. */
  vote<T>(work: () => Promise<T | null>, voters: Voters): Promise<NodeVote<T>[]> {
    const among = voters === "all" ? this.#nodes : this.#others();
    const asked = among.filter((node) => (voters === "working others" ? node.isUp : node.answers));
    return Promise.all(
      asked.map(async (node) => {
        // A node that fails, or does not have the blocks, has no vote. Its state says why.
        const answer = await this.#pinned.run(node, work).catch((error: unknown) => {
          if (error instanceof RpcError || error instanceof ChainUnavailable) return null;
          throw error;
        });
        return { node: node.number, answer, counts: node.differsAt === null };
      }),
    );
  }

  /** The node that is read now is behind, or its answer is wrong. If there are others, it is not read for a while. @throws the error */
  skip(error: NodeBehind | NodeDisagrees): never {
    throw this.count === 1 ? error : this.#read.failed(error);
  }

  /** Most nodes contradict these about a block: they are not read until they agree, and their word does not count. */
  differ(numbers: readonly number[], block: number): void {
    for (const node of this.#numbered(numbers)) node.differs(block);
  }

  /** Nodes that may agree again: they have not differed for some time. With the lowest block about which they did. */
  get mayAgreeAgain(): readonly { node: number; block: number }[] {
    return this.#nodes.flatMap(({ number: node, differsAt: block, mayAgreeAgain }) =>
      block !== null && mayAgreeAgain ? [{ node, block }] : [],
    );
  }

  /** These agree again. Absent: all, because this process no longer compares blocks. */
  agree(numbers: readonly number[] = this.#nodes.map(({ number }) => number)): void {
    for (const node of this.#numbered(numbers)) node.agrees();
  }

  /** The nodes do not agree about a block, and there is no majority. */
  divide(numbers: readonly number[], block: number): void {
    if (this.disagreement !== block) {
      const nodes = this.#numbered(numbers).map(({ name }) => name.slice("node ".length));
      const condition: Condition = "nodes_disagree";
      this.#logger?.warn(
        { condition, block, nodes },
        "nodes of the chain contradict each other, without a majority: nothing from this block on becomes final until they agree",
      );
    }
    this.#divided = { block, at: performance.now() };
  }

  /** The block about which the nodes were divided in the last minute, or about which a node differs; null: they agree. */
  get disagreement(): number | null {
    const divided = this.#divided;
    if (divided !== null && performance.now() - divided.at <= DIVIDED_LASTS) return divided.block;
    return this.#nodes.find(({ differsAt }) => differsAt !== null)?.differsAt ?? null;
  }

  #numbered(numbers: readonly number[]): ChainNode[] {
    return this.#nodes.filter(({ number }) => numbers.includes(number));
  }

  /** Runs a question on each node that answers, and gives the answers of all of them. At least one. @throws as the last one did */
  async each<T>(work: () => Promise<T>): Promise<T[]> {
    const up = this.count === 1 ? [] : this.#nodes.filter(({ isUp }) => isUp);
    const ends = await Promise.allSettled(up.map((node) => this.#pinned.run(node, work)));
    const answers = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
    // No working node has answered: try once more, with a node that may work again.
    return answers.length > 0 ? answers : [await this.session(work)];
  }

  /** Asks another working node the same question, as a second opinion. Null: no other node answers. */
  async second<T>(work: () => Promise<T>): Promise<T | null> {
    for (const node of this.#others()) {
      if (!node.isUp) continue;
      try {
        return await this.#pinned.run(node, work);
      } catch (error) {
        if (!isOfNode(error)) throw error;
      }
    }
    return null;
  }

  /**
   * The gas price that the node that is read now names. If it is more than twice the price of another node from the last minute,
   * all nodes are asked, and the median counts (of two prices the lower one). So one node alone cannot spend the funds of the
   * lanes.
   */
  async price(work: () => Promise<bigint>): Promise<bigint> {
    const own = await work();
    const { number } = this.#read;
    const known = this.#price;
    const isKnown = known !== null && known.node !== number && performance.now() - known.at < PRICE_LASTS;
    if (isKnown && own <= FAR_ABOVE * known.value) return own;
    const other = await this.second(async () => ({ node: this.number, value: await work() }));
    if (other === null) return own;
    this.#price = { ...other, at: performance.now() };
    if (own <= FAR_ABOVE * other.value) return own;
    const named = this.count > 2 ? await this.each(work) : [];
    const prices = (named.length > 2 ? named : [own, other.value]).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    const price = prices[Math.floor((prices.length - 1) / 2)] ?? other.value;
    if (price < own) this.report("fees", { node: number, wei: own.toString(), taken: price.toString() });
    return price;
  }

  /** Logs, once a minute, that the nodes contradict each other about something that does not stop the work. */
  report(about: Difference, fields: object): void {
    const [now, last] = [performance.now(), this.#reported.get(about)];
    if (last !== undefined && now - last < REPORT_EVERY) return;
    this.#reported.set(about, now);
    this.#logger?.warn(fields, DIFFERENCES[about]);
  }

  state(): NodesState {
    const isLimited = this.count === 1 && this.#read.budget.isLimited;
    const states = this.count === 1 ? [] : this.#nodes.map((node) => node.state());
    return { states, disagreement: this.disagreement, isLimited };
  }

  /** As `state`, after every node was asked for its newest block, also those that rest. */
  async examine(): Promise<NodesState> {
    if (this.count > 1) await Promise.all(this.#nodes.map((node) => node.probe()));
    return this.state();
  }

  /**
   * Sends signed bytes to all nodes that work and may send. The first that takes them is enough, and the others get them too. If
   * no node takes them, the least final answer counts: what one node refuses for good, another may accept.
   */
  broadcast(raw: string): Promise<void> {
    const senders = this.#nodes.filter(({ sends }) => sends);
    const up = senders.filter(({ isUp }) => isUp);
    const asked = up.length > 0 ? up : senders;
    return new Promise((resolve, reject) => {
      const refusals: Error[] = [];
      const refused = (error: Error) => {
        if (classifyBroadcast(error) === "accepted") resolve();
        refusals.push(error);
        if (refusals.length === asked.length) reject(refusals.reduce(milderAnswer));
      };
      for (const node of asked) node.broadcast(raw).then(resolve, refused);
    });
  }

  /** The node of the session, or else the one that the next session would read. */
  get #read(): ChainNode {
    const node = this.#pinned.getStore() ?? this.#next(new Set());
    if (node === null) throw new Error("the list of nodes is empty");
    return node;
  }

  #others(): ChainNode[] {
    const current = this.#read;
    return this.#nodes.filter((node) => node !== current);
  }

  /** The first node that works. If none does, nodes are tried in the order in which they may work again. Null: all were tried. */
  #next(tried: ReadonlySet<ChainNode>): ChainNode | null {
    // A node that differs is used only when every node does.
    const trusted = this.#nodes.filter(({ differsAt }) => differsAt === null);
    const left = (trusted.length > 0 ? trusted : this.#nodes).filter((node) => !tried.has(node));
    const up = left.find(({ isUp }) => isUp);
    if (up !== undefined) return up;
    if ([...tried].some(({ isUp }) => isUp)) return null;
    return left.toSorted((a, b) => a.restUntil - b.restUntil)[0] ?? null;
  }
}

/** Errors that are not the fault of the node that is read: a caller that gave up, an answer that is too long, nodes without a majority. */
const OF_NO_NODE = [CallAborted, AnswerTooLarge, NodesDivided];

/** Whether another node may answer what this one did not. */
function isOfNode(error: unknown): boolean {
  if (error instanceof RpcError) return true;
  return error instanceof ChainUnavailable && !OF_NO_NODE.some((kind) => error instanceof kind);
}

/** Which error of several nodes is reported: the one that says the most. */
function tells(error: unknown): number {
  if (error instanceof RpcError) return 4;
  if (error instanceof NodeBehind) return 3;
  if (error instanceof RateLimited) return 2;
  return error instanceof WrongChain ? 0 : 1;
}
