import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as pause } from "node:timers/promises";

import { z } from "zod";

import { type ChainGuard, type ExpectedChain, WrongChain } from "./chain-guard.ts";
import { ChainNode, type NodeOptions } from "./chain-node.ts";
import {
  AnswerTooLarge,
  CallAborted,
  ChainUnavailable,
  classifyBroadcast,
  milderAnswer,
  behind,
  NodeBehind,
  NodeDisagrees,
  NodesDivided,
  RateLimited,
  RpcError,
} from "./errors.ts";
import type { BlockVotes, NodeChoice, NodeState } from "./node-choice.ts";
import { type RpcBounds, type RpcCall, RpcCalls, type RpcResult } from "./rpc.ts";
import { hash, hexQuantity } from "./values.ts";

/** How often the nodes are looked at, in milliseconds. No call is made unless there is a reason. */
const LOOK_EVERY = 250;
/** While every node is a few blocks behind the database, the work waits so many times for so many milliseconds. */
const WAIT_BEHIND = { times: 10, each: 200 };
/** Milliseconds for which a disagreement is reported. */
const DISAGREEMENT_LASTS = 60_000;

interface NodesOptions extends NodeOptions {
  /** Numbers of the nodes to which no transaction is sent. */
  readOnly: readonly number[];
}

/**
 * Several nodes of one chain, in order of preference. Reads go to the first that works. Work whose calls belong together is
 * done by one node (`session`). What a node's answers show about it is known to this thread only.
 */
export class Nodes extends RpcCalls implements NodeChoice {
  readonly #nodes: readonly ChainNode[];
  /** The node of the session in which the code runs. */
  readonly #pinned = new AsyncLocalStorage<ChainNode>();
  readonly #timer: NodeJS.Timeout;
  #disagreement: { height: number; until: number } | null = null;

  constructor(urls: readonly string[], { readOnly, ...options }: NodesOptions) {
    super();
    this.#nodes = urls.map((url, index) => {
      const number = index + 1;
      return new ChainNode({ number, url, sends: !readOnly.includes(number) }, options);
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
    const known = this.#disagreement;
    return known === null || performance.now() > known.until ? null : known.height;
  }

  /** From now on, the answers of each node count only while it serves this chain. */
  guardBy(create: (node: { url: string; name: string }) => ChainGuard): ChainGuard[] {
    return this.#nodes.map((node) => {
      const guard = create(node);
      node.guard = guard;
      node.rpc.guardBy(guard);
      return guard;
    });
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

  override batch(calls: RpcCall[], bounds?: RpcBounds): Promise<RpcResult[]> {
    return this.session(() => this.#read.rpc.batch(calls, bounds));
  }

  async session<T>(work: () => Promise<T>): Promise<T> {
    if (this.#pinned.getStore() !== undefined) return work();
    const tried = new Set<ChainNode>();
    let failure: unknown = null;
    let waits = 0;
    for (;;) {
      const node = this.#next(tried);
      if (node === null) {
        if (!(failure instanceof NodeBehind) || waits >= WAIT_BEHIND.times) throw failure;
        waits += 1;
        tried.clear();
        await pause(WAIT_BEHIND.each);
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

  async votesOn(height: number, hash: string): Promise<BlockVotes> {
    const at = `0x${height.toString(16)}`;
    const voters = this.#others().filter(({ votes }) => votes);
    const hashes = await Promise.all(
      voters.map(({ rpc }) => rpc.call("eth_getBlockByNumber", [at, false]).then(hashOf, () => null)),
    );
    const known = hashes.filter((one) => one !== null);
    const same = known.filter((one) => one === hash).length;
    return { same, other: known.length - same, outvoted: this.#read.outvoted };
  }

  skipBehind(head: number, checkpoint: number): never {
    const error = behind(head, checkpoint);
    this.#read.failed(this.#read.named(error), performance.now());
    throw error;
  }

  putAside(height: number): never {
    this.disagree(height);
    this.#read.outvoted = true;
    const error = new NodeDisagrees(
      `the node has another block ${height.toString()} than the other nodes: it is not read until it agrees with them`,
    );
    this.#read.failed(this.#read.named(error), performance.now());
    throw error;
  }

  distrust(error: NodeDisagrees): never {
    this.#read.failed(this.#read.named(error), performance.now());
    throw error;
  }

  agrees(): void {
    this.#read.outvoted = false;
  }

  disagree(height: number): void {
    this.#disagreement = { height, until: performance.now() + DISAGREEMENT_LASTS };
  }

  async each<T>(work: () => Promise<T>): Promise<T[]> {
    const up = this.#nodes.filter(({ isUp }) => isUp);
    const ends = await Promise.allSettled(up.map((node) => this.#pinned.run(node, work)));
    const answers = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
    // Nobody who works has answered: one more try, of a node that may work again.
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

  states(): NodeState[] {
    return this.#nodes.map((node) => node.state());
  }

  /** Asks every node for its newest block, also those that rest. */
  async examine(): Promise<NodeState[]> {
    await Promise.all(this.#nodes.map((node) => node.probe()));
    return this.states();
  }

  /**
   * Sends signed bytes to all nodes that work and may send. The first that takes them is enough, and the others get them too.
   * Otherwise the answer counts that ends the least: what one node refuses for good, another may take.
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

  /** The first node that works. While none does, those are tried that may work again first. Null: all were tried. */
  #next(tried: ReadonlySet<ChainNode>): ChainNode | null {
    const left = this.#nodes.filter((node) => !tried.has(node));
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
const hashed = z.object({ hash });

function chainOf(answers: unknown[]): ExpectedChain | null {
  const parsed = identified.safeParse(answers);
  return parsed.success ? { chainId: parsed.data[0], genesis: parsed.data[1].hash } : null;
}

/** Null: the node does not have the block. */
function hashOf(answer: unknown): string | null {
  const parsed = hashed.safeParse(answer);
  return parsed.success ? parsed.data.hash : null;
}
