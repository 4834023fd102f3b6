import type { Logger } from "pino";

import { backoff } from "../domain/backoff.ts";
import type { Condition, NodeWord } from "../domain/conditions.ts";
import { pause } from "../shared/pause.ts";
import { type ChainGuard, WrongChain } from "./chain-guard.ts";
import { AnswerTooLarge, CallAborted, ChainUnavailable, NodeBehind, NodeDisagrees, RateLimited } from "./errors.ts";
import { NodeBudget } from "./node-budget.ts";
import type { NodeState } from "./node-choice.ts";
import { Rpc, type RpcBounds, type RpcCall, type RpcOptions, type RpcResult } from "./rpc.ts";

/* All times in milliseconds (monotonic clock). */

/** An HTTP request that takes longer is suspected to hang: the node is then asked for its newest block. */
const SUSPECT = 1_500;
/** A node that does not name its newest block in this time hangs, if another one works. */
const PROBE_TIMEOUT = 2_000;
/** Milliseconds between two checks whether another node works: until one does, a node that may hang is waited for. */
const LOOK_AGAIN = 250;
/** A node that nobody asked for this long is asked for its newest block. */
const PROBE_EVERY = 15_000;
/** Rest of a node that failed, before it is asked again. */
const REST = { first: 1_000, longest: 30_000 };
/** How long a node that is behind the database is not asked. */
const BEHIND_REST = 1_000;
/** Pause after a wrong answer of a node. Also the time without a contradiction after which an outvoted node is compared again. */
const DISAGREES_REST = 30_000;

/** How long a disagreement is reported. */
const DISPUTE_LASTS = 60_000;
/** The same state of a node is logged once in this time. */
const LOG_EVERY = 60_000;

const HEAD: RpcCall = { method: "eth_blockNumber", params: [] };
const NO_HEAD = "the node does not name its newest block";

export interface NodeOptions extends Omit<RpcOptions, "budget"> {
  /** The block up to which the database is. A node below it is never asked for its newest state. */
  floor: () => Promise<number>;
  /** Logs when a node is put aside, and when it is used again. */
  logger: Pick<Logger, "warn" | "info">;
}

/** One of several nodes: its connection, and what its answers show about it. Each thread finds out for itself. */
export class ChainNode {
  readonly number: number;
  readonly host: string;
  /** For messages. It never has the URL, which may contain a provider's key. */
  readonly name: string;
  readonly url: string;
  /** Whether signed transactions are sent to it. */
  readonly sends: boolean;
  readonly budget = new NodeBudget();
  readonly rpc: NodeRpc;
  guard: ChainGuard | null = null;
  /** Its newest block; null: it has not said. */
  head: number | null = null;
  #headAt = -Infinity;
  /** When it may be asked again. */
  restUntil = 0;
  #word: NodeWord = "up";
  /** What is wrong with it; empty when nothing is. */
  #problem = "";
  #latency: number | null = null;
  #failures = { all: 0, inRow: 0, lastAt: -Infinity };
  /** The lowest block about which the others outvoted it, and when it last contradicted them; null: it may be read. */
  #outvoted: { height: number; at: number } | null = null;
  /** The block about which it and others last differed without a majority, and when. */
  #disputed: { height: number; at: number } | null = null;
  readonly #doesAnother: () => boolean;
  readonly #logger: NodeOptions["logger"];
  /** By state, when it was last logged. */
  readonly #logged = new Map<NodeWord, number>();
  /** Ends the calls under way when the node turns out to hang. */
  #hung = new AbortController();
  readonly #underWay = new Set<{ suspectAt: number }>();
  #probing: Promise<void> | null = null;

  constructor(
    {
      number,
      url,
      sends,
      doesAnother,
    }: {
      number: number;
      url: string;
      sends: boolean;
      /** Whether another node works and can answer instead of this one. */
      doesAnother: () => boolean;
    },
    { floor, logger, ...options }: NodeOptions,
  ) {
    this.number = number;
    this.host = new URL(url).host;
    this.name = `node ${number.toString()} (${this.host})`;
    this.url = url;
    this.sends = sends;
    this.#doesAnother = doesAnother;
    this.#logger = logger;
    this.rpc = new NodeRpc(this, floor, { ...options, budget: this.budget });
  }

  /** Whether it is read and sent to. */
  get isUp(): boolean {
    return this.#word === "up" && this.#outvoted === null;
  }

  /** Whether it answers, even if the others outvoted it, or it is behind the database. */
  get answers(): boolean {
    return this.#word === "up" || this.#word === "behind";
  }

  /** The lowest block about which the others outvoted it; null: it may be read. */
  get outvotedAt(): number | null {
    return this.#outvoted?.height ?? null;
  }

  /** The block about which it and others differed without a majority a short time ago; null: none. */
  get disputedAt(): number | null {
    const disputed = this.#disputed;
    return disputed === null || performance.now() - disputed.at > DISPUTE_LASTS ? null : disputed.height;
  }

  dispute(height: number): void {
    this.#disputed = { height, at: performance.now() };
  }

  /** Whether it was outvoted, and has not contradicted for some time. */
  get mayAgreeAgain(): boolean {
    return this.#word === "up" && this.#outvoted !== null && performance.now() - this.#outvoted.at >= DISAGREES_REST;
  }

  outvote(height: number): void {
    this.#outvoted = { height: Math.min(height, this.#outvoted?.height ?? height), at: performance.now() };
    this.#logPutAside();
  }

  reinstate(): void {
    if (this.#outvoted === null) return;
    this.#outvoted = null;
    this.#logUsedAgain();
  }

  state(): NodeState {
    const [word, outvoted] = [this.#word, this.#outvoted];
    return {
      number: this.number,
      host: this.host,
      word: word === "up" && outvoted !== null ? "disagrees" : word,
      head: this.head,
      latency: this.#latency === null ? null : this.#latency / 1_000,
      failures: this.#failures.all,
      sends: this.sends,
      problem: word === "up" ? this.#contradiction(outvoted) : this.#problem,
    };
  }

  #contradiction(outvoted: { height: number } | null): string | null {
    if (outvoted === null) return null;
    return `${this.name}: contradicts the other nodes about block ${outvoted.height.toString()}: it is not read until it agrees with them`;
  }

  /** Called often. Asks the node for its newest block when a call takes long, when it may work again, or when nobody asked it. */
  look(): void {
    const now = performance.now();
    const suspect = [...this.#underWay].some(({ suspectAt }) => now >= suspectAt);
    const due = this.#word === "up" ? suspect || now - this.#headAt >= PROBE_EVERY : now >= this.restUntil;
    if (!due || this.#probing !== null) return;
    for (const call of this.#underWay) call.suspectAt = now + PROBE_EVERY;
    void this.probe();
  }

  /** Asks for the newest block. What it finds is kept. Never throws. */
  probe(): Promise<void> {
    return (this.#probing ??= this.#probe().finally(() => {
      this.#probing = null;
    }));
  }

  async #probe(): Promise<void> {
    const ended = new AbortController();
    // When all nodes are slow, the last one is waited for as long as a single node is.
    const late = pause(PROBE_TIMEOUT, ended.signal).then(async () => {
      while (!ended.signal.aborted && !this.#doesAnother()) await pause(LOOK_AGAIN, ended.signal);
      if (!ended.signal.aborted) this.#hangs();
    });
    try {
      await this.rpc.probe();
    } catch {
      // An error of the node is kept in its state already. Others, such as an answer that is too long, are not.
      if (this.isUp) this.failed(this.named(new ChainUnavailable(NO_HEAD)));
    }
    ended.abort();
    await late;
  }

  /** The error as it is shown: with the name of the node. */
  named(error: ChainUnavailable): ChainUnavailable {
    if (error.node !== null) return error;
    error.node = this.name;
    if (!error.message.startsWith(this.name))
      error.message = `${this.name}: ${error.message.replace("RPC_URL", "RPC_URLS")}`;
    return error;
  }

  /** An HTTP request begins. */
  begin(): { hung: AbortSignal; answered: () => void; end: () => void } {
    const startedAt = performance.now();
    const call = { suspectAt: startedAt + SUSPECT };
    this.#underWay.add(call);
    return {
      hung: this.#hung.signal,
      answered: () => {
        this.#latency = performance.now() - startedAt;
      },
      end: () => this.#underWay.delete(call),
    };
  }

  /** @param isNewest whether the answer shows that the node is not behind the database. */
  answered(startedAt: number, isNewest: boolean): void {
    const word = this.#word;
    // An answer to a call from before the last failure does not show that the node works again.
    if (startedAt < this.#failures.lastAt) return;
    // A node whose answer was wrong answers all the time, and one that is behind has old blocks.
    if (word === "disagrees" && performance.now() < this.restUntil) return;
    if (word === "behind" && !isNewest) return;
    [this.#word, this.#problem, this.#failures.inRow] = ["up", "", 0];
    if (word !== "up" && this.isUp) this.#logUsedAgain();
  }

  names(head: number): void {
    [this.head, this.#headAt] = [head, performance.now()];
  }

  /** Nothing is read from the node for a while. */
  failed(error: ChainUnavailable, startedAt = performance.now()): void {
    const [word, now, failures] = [this.#word, performance.now(), this.#failures];
    failures.all += 1;
    // The call ran beside one that has already failed, so nothing is new.
    if (word !== "up" && startedAt < failures.lastAt) return;
    const rest =
      error instanceof NodeDisagrees ? DISAGREES_REST : error instanceof NodeBehind ? BEHIND_REST : error.retryAfter;
    this.restUntil = Math.max(this.restUntil, now + (rest ?? backoff(REST, failures.inRow)));
    failures.inRow += 1;
    failures.lastAt = now;
    [this.#word, this.#problem] = [wordOf(error), error.message];
    if (this.#word !== word) this.#logPutAside();
  }

  #logUsedAgain(): void {
    this.#logger.info({ node: this.number, host: this.host }, "a node of the chain is used again");
  }

  /** A node that keeps failing and recovering is not logged each time. */
  #logPutAside(): void {
    const { number: node, host, word, problem } = this.state();
    const now = performance.now();
    if (now - (this.#logged.get(word) ?? -Infinity) < LOG_EVERY) return;
    this.#logged.set(word, now);
    const condition: Condition = word === "disagrees" ? "nodes_disagree" : "node_down";
    this.#logger.warn({ condition, node, host, state: word, problem }, "a node of the chain is not used for now");
  }

  #hangs(): void {
    const hung = this.#hung;
    this.#hung = new AbortController();
    hung.abort();
  }
}

function wordOf(error: ChainUnavailable): NodeWord {
  if (error instanceof RateLimited) return "rate_limited";
  if (error instanceof WrongChain) return "wrong_chain";
  if (error instanceof NodeBehind) return "behind";
  return error instanceof NodeDisagrees ? "disagrees" : "down";
}

/** Whether a call reads the newest state. If the node is behind, that state is older than the database. */
function readsNewest({ params }: RpcCall): boolean {
  return params.some((param) => param === "latest" || param === "pending");
}

/** JSON-RPC calls to one of several nodes. Each answer updates the state of the node. */
class NodeRpc extends Rpc {
  readonly #node: ChainNode;
  readonly #floor: () => Promise<number>;

  /** @param floor the block up to which the database is. */
  constructor(node: ChainNode, floor: () => Promise<number>, options: RpcOptions) {
    super(node.url, options);
    this.#node = node;
    this.#floor = floor;
  }

  override batch(calls: RpcCall[], bounds: RpcBounds = {}): Promise<RpcResult[]> {
    return this.#read(calls, bounds, calls.some(readsNewest));
  }

  /** @param newest whether the answers count only if the node is not behind the database. */
  async #read(calls: RpcCall[], bounds: RpcBounds, newest: boolean): Promise<RpcResult[]> {
    const node = this.#node;
    const startedAt = performance.now();
    try {
      const results = await this.#checked(calls, bounds, newest);
      node.answered(startedAt, newest);
      return results;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      if (bounds.abort?.aborted === true) throw new CallAborted(error);
      if (error instanceof AnswerTooLarge) throw error;
      node.named(error);
      // A call that only waits for the calls of others does not put the node aside for them.
      if (!(error instanceof RateLimited && error.kind === "waiting")) node.failed(error, startedAt);
      throw error;
    }
  }

  protected override async post(calls: RpcCall[], bounds: RpcBounds): Promise<RpcResult[]> {
    const { hung, answered, end } = this.#node.begin();
    const abort = bounds.abort === undefined ? hung : AbortSignal.any([bounds.abort, hung]);
    try {
      const results = await super.post(calls, { ...bounds, abort });
      answered();
      return results;
    } catch (error) {
      if (!hung.aborted || !(error instanceof ChainUnavailable)) throw error;
      throw new ChainUnavailable("the node does not answer: check that it runs", { cause: error });
    } finally {
      end();
    }
  }

  /** Asks for the newest block. @throws NodeBehind */
  async probe(): Promise<void> {
    await this.#read([HEAD], { urgent: true }, true);
  }

  /**
   * The newest state counts only if it is not older than the database, and the logs of a range only if the node has its last block:
   * otherwise the list would lack some. So the node is asked for its newest block first.
   */
  async #checked(calls: RpcCall[], bounds: RpcBounds, newest: boolean): Promise<RpcResult[]> {
    const least = Math.max(newest ? await this.#floor() : -1, ...calls.map(lastOfLogs));
    const asked = least >= 0 && !calls.some(namesHead) ? [HEAD, ...calls] : calls;
    const results = await super.batch(asked, bounds);
    for (const [index, call] of asked.entries()) {
      if (!namesHead(call)) continue;
      const result = results[index];
      const head = result?.ok === true ? headOf(result.value) : null;
      if (head !== null) this.#node.names(head);
      else if (least >= 0) throw new ChainUnavailable(NO_HEAD);
      if (head !== null && head < least) throw new NodeBehind(head, least);
    }
    return asked.length === calls.length ? results : results.slice(1);
  }
}

/** The last block of a query for the logs of a range; -1 for any other call. */
function lastOfLogs({ method, params: [query] }: RpcCall): number {
  if (method !== "eth_getLogs" || typeof query !== "object" || query === null || !("toBlock" in query)) return -1;
  return Number(query.toBlock);
}

function namesHead({ method, params }: RpcCall): boolean {
  return method === HEAD.method || (method === "eth_getBlockByNumber" && params[0] === "latest");
}

/** Null: the answer has no valid block number. The caller reports that. */
function headOf(value: unknown): number | null {
  const text: unknown = typeof value === "object" && value !== null && "number" in value ? value.number : value;
  const head = typeof text === "string" && /^0x[0-9a-f]+$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(head) ? head : null;
}
