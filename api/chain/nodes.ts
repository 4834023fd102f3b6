import { AsyncLocalStorage } from "node:async_hooks";

import { z } from "zod";

import { type ChainGuard, type ExpectedChain, WrongChain } from "./chain-guard.ts";
import type { Condition } from "../domain/conditions.ts";
import { pause } from "../shared/pause.ts";
import { ChainNode, type NodeOptions } from "./chain-node.ts";
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
import type { Difference, NodeChoice, NodeState, NodeVote, Voters } from "./node-choice.ts";
import { type RpcBounds, type RpcCall, RpcCalls, type RpcResult } from "./rpc.ts";
import { hash, hexQuantity } from "./values.ts";

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
const DIFFERENCES: Readonly<Record<Difference, string>> = {
  costs:
    "nodes of the chain report different costs for the same transactions: the costs stay unknown until most nodes agree",
  gas: "nodes of the chain measure different gas costs of the service's calls: the figures of most nodes are used, or the last ones",
  fees: "a node of the chain names far higher fees than another one: the transactions pay what the others name",
};

interface NodesOptions extends NodeOptions {
  /** Numbers of the nodes to which no transaction is sent. */
  readOnly: readonly number[];
  /** How many nodes must agree about a block before it is final. Default: one. */
  agreement?: number;
}

/**
 * Several nodes of one chain, in order of preference. Reads go to the first that works. Work whose calls belong together is
 * done by one node (`session`).
 */
export class Nodes extends RpcCalls implements NodeChoice {
  readonly #nodes: readonly ChainNode[];
  /** The node of the session in which the code runs. */
  readonly #pinned = new AsyncLocalStorage<ChainNode>();
  readonly #timer: NodeJS.Timeout;
  readonly agreement: number;
  readonly #logger: NodesOptions["logger"];
  readonly #maxWait: number;
  /** The last price of gas that a second node named. */
  #price: { node: number; value: bigint; at: number } | null = null;
  /** When a difference was last logged (monotonic clock). */
  readonly #reported = new Map<Difference, number>();

  constructor(urls: readonly string[], { readOnly, agreement = 1, maxWait = 0, ...options }: NodesOptions) {
    super();
    this.agreement = agreement;
    this.#logger = options.logger;
    this.#maxWait = maxWait;
    const maxRest = Math.min(maxWait, MOVE_ON_AFTER);
    this.#nodes = urls.map((url, index) => {
      const number = index + 1;
      const doesAnother = () => this.#nodes.some((node) => node.number !== number && node.isUp);
      const sends = !readOnly.includes(number);
      return new ChainNode({ number, url, sends, doesAnother }, { ...options, maxWait, maxRest });
    });
    this.#timer = setInterval(() => {
      for (const node of this.#nodes) node.look();
    }, LOOK_EVERY).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  override get nodes(): NodeChoice {
    return this;
  }

  get count(): number {
    return this.#nodes.length;
  }

  get number(): number {
    return this.#read.number;
  }

  get where(): string {
    return `RPC_URLS (${this.#read.name})`;
  }

  /** The URL of the node that is read now. */
  get url(): string {
    return this.#read.url;
  }

  /** What is wrong when every node serves another chain than the database's; null otherwise. */
  get problem(): string | null {
    const problems = this.#nodes.map(({ guard }) => guard?.problem ?? null);
    return problems.every((one) => one !== null) ? problems.join(" ") : null;
  }

  get disagreement(): number | null {
    for (const { disputedAt, outvotedAt } of this.#nodes)
      if ((disputedAt ?? outvotedAt) !== null) return disputedAt ?? outvotedAt;
    return null;
  }

  /** From now on, the answers of each node count only while it serves this chain. */
  guardBy(create: (node: Pick<ChainNode, "url" | "name" | "budget">) => ChainGuard): void {
    for (const node of this.#nodes) {
      node.guard = create(node);
      node.rpc.guardBy(node.guard);
    }
  }

  /** The chains that the nodes serve; null where one does not say. */
  chains(): Promise<{ name: string; chain: ExpectedChain | null }[]> {
    return Promise.all(
      this.#nodes.map(async ({ name, rpc }) => {
        const chain = await rpc
          .all([
            { method: "eth_chainId", params: [] },
            { method: "eth_getBlockByNumber", params: ["0x0", false] },
          ])
          .then(chainOf, () => null);
        return { name, chain };
      }),
    );
  }

  override batch(calls: RpcCall[], bounds: RpcBounds = {}): Promise<RpcResult[]> {
    const isAlone = this.#pinned.getStore() === undefined;
    const asked = isAlone ? { ...bounds, wait: Math.min(bounds.wait ?? Infinity, MOVE_ON_AFTER) } : bounds;
    return this.session(() => this.#read.rpc.batch(calls, asked));
  }

  async session<T>(work: () => Promise<T>): Promise<T> {
    if (this.#pinned.getStore() !== undefined) return work();
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

  within<T>(number: number, work: () => Promise<T>): Promise<T> {
    const node = this.#nodes[number - 1];
    if (node === undefined) throw new Error(`there is no node ${number.toString()}`);
    return this.#pinned.run(node, work);
  }

  canMoveOn(error: unknown): boolean {
    if (!(error instanceof ChainUnavailable) || !isOfNode(error)) return false;
    const current = this.#pinned.getStore();
    return this.#nodes.some((node) => node !== current && node.isUp);
  }

  async isAnotherAt(height: number): Promise<boolean> {
    const others = this.#others().filter(({ isUp }) => isUp);
    await Promise.all(others.map((node) => node.probe()));
    return others.some(({ isUp, head }) => isUp && head !== null && head >= height);
  }

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
        return { node: node.number, answer, outvoted: node.outvotedAt !== null };
      }),
    );
  }

  skip(error: NodeBehind | NodeDisagrees): never {
    this.#read.failed(this.#read.named(error));
    throw error;
  }

  outvote(numbers: readonly number[], height: number): void {
    for (const node of this.#numbered(numbers)) node.outvote(height);
  }

  get outvoted(): { node: number; height: number }[] {
    return this.#nodes.flatMap(({ number: node, outvotedAt: height, mayAgreeAgain }) =>
      height !== null && mayAgreeAgain ? [{ node, height }] : [],
    );
  }

  reinstate(numbers: readonly number[]): void {
    for (const node of this.#numbered(numbers)) node.reinstate();
  }

  forgetVotes(): void {
    for (const node of this.#nodes) node.reinstate();
  }

  disagree(height: number, numbers: readonly number[]): void {
    if (this.disagreement !== height) {
      const nodes = this.#numbered(numbers).map(({ number, host }) => `${number.toString()} (${host})`);
      const condition: Condition = "nodes_disagree";
      this.#logger.warn(
        { condition, block: height, nodes },
        "nodes of the chain contradict each other, without a majority: nothing from this block on becomes final until they agree",
      );
    }
    for (const node of this.#numbered(numbers)) node.dispute(height);
  }

  #numbered(numbers: readonly number[]): ChainNode[] {
    return this.#nodes.filter(({ number }) => numbers.includes(number));
  }

  async each<T>(work: () => Promise<T>): Promise<T[]> {
    const up = this.#nodes.filter(({ isUp }) => isUp);
    const ends = await Promise.allSettled(up.map((node) => this.#pinned.run(node, work)));
    const answers = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
    // No working node has answered: try once more, with a node that may work again.
    return answers.length > 0 ? answers : [await this.session(work)];
  }

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
    if (price < own) this.differ("fees", { node: number, wei: own.toString(), taken: price.toString() });
    return price;
  }

  differ(about: Difference, fields: object): void {
    const [now, last] = [performance.now(), this.#reported.get(about)];
    if (last !== undefined && now - last < REPORT_EVERY) return;
    this.#reported.set(about, now);
    this.#logger.warn(fields, DIFFERENCES[about]);
  }

  states(): NodeState[] {
    return this.#nodes.map((node) => node.state());
  }

  /** Asks every node for its newest block, also those that rest. */
  async examine(): Promise<NodeState[]> {
    await Promise.all(this.#nodes.map((node) => node.probe()));
    return this.states();
  }

  /**
   * Sends signed bytes to all nodes that work and may send. The first that takes them is enough, and the others get them too. If
   * no node takes them, the least final answer counts: what one node refuses for good, another may accept.
   */
  override broadcast(raw: string): Promise<void> {
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
      for (const { rpc } of asked) rpc.broadcast(raw).then(resolve, refused);
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
    // A node that was outvoted is used only when every node was.
    const trusted = this.#nodes.filter(({ outvotedAt }) => outvotedAt === null);
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

const identified = z.tuple([hexQuantity, z.object({ hash })]);

function chainOf(answers: unknown[]): ExpectedChain | null {
  const parsed = identified.safeParse(answers);
  return parsed.success ? { chainId: parsed.data[0], genesis: parsed.data[1].hash } : null;
}
