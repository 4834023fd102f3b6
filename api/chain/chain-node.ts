import type { Logger } from "pino";

import { backoff } from "../domain/backoff.ts";
import type { Condition, NodeWord } from "../domain/conditions.ts";
import { pause } from "../shared/pause.ts";
import { WrongChain } from "./chain-guard.ts";
import { AnswerTooLarge, CallAborted, ChainUnavailable, NodeBehind, NodeDisagrees, RateLimited } from "./errors.ts";
import { createLogLimits, type LogLimits, type LogQuerySizes } from "./limits.ts";
import { Rpc, type RpcBounds, type RpcCall, type RpcOptions, type RpcResult } from "./rpc.ts";

/* All times in milliseconds (monotonic clock). */

/** If an HTTP request takes longer, the node is asked for its newest block: it may hang. */
const SLOW = 1_500;
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
/** Pause after a wrong answer of a node. Also the time after which a node that differed may be read again, if it agrees by then. */
const DISAGREES_REST = 30_000;
/** The same state of a node is logged once in this time. */
const LOG_EVERY = 60_000;

const HEAD: RpcCall = { method: "eth_blockNumber", params: [] };
const NO_HEAD = "the node does not name its newest block";

/** How a node of `RPC_URLS` is, as far as this process knows. */
export interface NodeState {
  /** Its place in `RPC_URLS`, from 1. Two nodes may have the same host. */
  number: number;
  host: string;
  word: NodeWord;
  /** Its newest block; null: it has not said. */
  head: number | null;
  /** Seconds that its last answer took; null: it has not answered. */
  latency: number | null;
  /** Failed HTTP requests since the start of this process. */
  failures: number;
  /** Whether signed transactions are sent to it. */
  sends: boolean;
  /** Why it is not used; null: it is used. It never contains the URL. */
  problem: string | null;
}

export interface NodeOptions extends RpcOptions {
  /** The block up to which the database is. A node below it is never asked for its newest state. */
  floor?: () => Promise<number>;
  /** First and largest sizes of log queries. */
  logQueries?: LogQuerySizes;
  /** Logs when a node is put aside, and when it is used again. */
  logger?: Pick<Logger, "warn" | "info">;
}

interface Place {
  number: number;
  /** Whether signed transactions are sent to it. */
  sends: boolean;
  /** Whether another node works and can answer instead of this one. Null: there is no other, so its state is of no use. */
  doesAnother: (() => boolean) | null;
}

/**
 * One of the nodes: its connection, and what its answers show about it. Each process finds out for itself. If there is no other
 * node, it is only a connection.
 */
export class ChainNode extends Rpc {
  readonly number: number;
  readonly sends: boolean;
  readonly #host: string;
  /** For messages. It never has the URL, which may contain a provider's key. */
  readonly name: string;
  /** What it has shown about itself. `suggestsFee`: whether it knows `eth_maxPriorityFeePerGas`. */
  readonly learnt: { readonly logLimits: LogLimits; suggestsFee: boolean };
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
  /** The lowest block about which it differs from most others, and when that was last seen; null: it may be read. */
  #differs: { block: number; at: number } | null = null;
  readonly #doesAnother: Place["doesAnother"];
  readonly #floor: () => Promise<number>;
  readonly #logger: NodeOptions["logger"];
  /** By state, when it was last logged. */
  readonly #logged = new Map<NodeWord, number>();
  /** Ends the calls under way when the node turns out to hang. */
  #hung = new AbortController();
  /** For each HTTP request under way, when the node is asked whether it hangs. */
  readonly #underWay = new Set<{ slowAt: number }>();
  #probing: Promise<void> | null = null;

  constructor(
    url: string,
    { number, sends, doesAnother }: Place,
    { floor, logQueries, logger, ...options }: NodeOptions,
  ) {
    super(url, options);
    this.number = number;
    this.sends = sends;
    this.learnt = { logLimits: createLogLimits(logQueries), suggestsFee: true };
    this.#host = new URL(url).host;
    this.name = `node ${number.toString()} (${this.#host})`;
    this.#doesAnother = doesAnother;
    this.#floor = floor ?? (() => Promise.resolve(0));
    this.#logger = logger;
  }

  /** Whether it is read and sent to. */
  get isUp(): boolean {
    return this.#word === "up" && this.#differs === null;
  }

  /** Whether it answers, even if it differs from the others, or is behind the database. */
  get answers(): boolean {
    return this.#word === "up" || this.#word === "behind";
  }

  /** The lowest block about which it differs from most others: it is not read. Null: it may be read. */
  get differsAt(): number | null {
    return this.#differs?.block ?? null;
  }

  /** Whether it differed, and has not done so for some time. */
  get mayAgreeAgain(): boolean {
    return this.#word === "up" && this.#differs !== null && performance.now() - this.#differs.at >= DISAGREES_REST;
  }

  differs(block: number): void {
    this.#differs = { block: Math.min(block, this.#differs?.block ?? block), at: performance.now() };
    this.#logPutAside();
  }

  agrees(): void {
    if (this.#differs === null) return;
    this.#differs = null;
    this.#logUsedAgain();
  }

  state(): NodeState {
    const [word, differs] = [this.#word, this.#differs];
    const isApart = word === "up" && differs !== null;
    return {
      number: this.number,
      host: this.#host,
      word: isApart ? "disagrees" : word,
      head: this.head,
      latency: this.#latency === null ? null : this.#latency / 1_000,
      failures: this.#failures.all,
      sends: this.sends,
      problem: isApart
        ? `${this.name}: contradicts the other nodes about block ${differs.block.toString()}: it is not read until it agrees with them`
        : this.#problem || null,
    };
  }

  /** Called often. Asks the node for its newest block when a call takes long, when it may work again, or when nobody asked it. */
  look(): void {
    const now = performance.now();
    const isSlow = [...this.#underWay].some(({ slowAt }) => now >= slowAt);
    const due = this.#word === "up" ? isSlow || now - this.#headAt >= PROBE_EVERY : now >= this.restUntil;
    if (!due || this.#probing !== null) return;
    for (const call of this.#underWay) call.slowAt = now + PROBE_EVERY;
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
      while (!ended.signal.aborted && this.#doesAnother?.() !== true) await pause(LOOK_AGAIN, ended.signal);
      if (ended.signal.aborted) return;
      this.#hung.abort();
      this.#hung = new AbortController();
    });
    try {
      await this.#read([HEAD], { urgent: true }, true);
    } catch {
      // An error of the node is kept in its state already. Others, such as an answer that is too long, are not.
      if (this.isUp) this.failed(new ChainUnavailable(NO_HEAD));
    }
    ended.abort();
    await late;
  }

  override bundle(calls: RpcCall[], bounds: RpcBounds = {}): Promise<RpcResult[]> {
    if (this.#doesAnother === null) return super.bundle(calls, bounds);
    return this.#read(calls, bounds, calls.some(readsNewest));
  }

  /** @param newest whether the answers count only if the node is not behind the database. */
  async #read(calls: RpcCall[], bounds: RpcBounds, newest: boolean): Promise<RpcResult[]> {
    const startedAt = performance.now();
    try {
      const results = await this.#checked(calls, bounds, newest);
      this.#answered(startedAt, newest);
      return results;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      if (bounds.abort?.aborted === true) throw new CallAborted(error);
      if (error instanceof AnswerTooLarge) throw error;
      // A call that only waits for the calls of others does not put the node aside for them.
      if (error instanceof RateLimited && error.kind === "waiting") throw this.#named(error);
      throw this.failed(error, startedAt);
    }
  }

  /**
   * The newest state counts only if it is not older than the database, and the logs of a range only if the node has its last block:
   * otherwise the list would lack some. So the node is asked for its newest block first.
   */
  async #checked(calls: RpcCall[], bounds: RpcBounds, newest: boolean): Promise<RpcResult[]> {
    const least = Math.max(newest ? await this.#floor() : -1, ...calls.map(lastOfLogs));
    const asked = least >= 0 && !calls.some(namesHead) ? [HEAD, ...calls] : calls;
    const results = await super.bundle(asked, bounds);
    for (const [index, call] of asked.entries()) {
      if (!namesHead(call)) continue;
      const result = results[index];
      const head = result?.ok === true ? headOf(result.value) : null;
      if (head !== null) [this.head, this.#headAt] = [head, performance.now()];
      else if (least >= 0) throw new ChainUnavailable(NO_HEAD);
      if (head !== null && head < least) throw new NodeBehind(head, least);
    }
    return asked.length === calls.length ? results : results.slice(1);
  }

  protected override async post(calls: RpcCall[], bounds: RpcBounds): Promise<RpcResult[]> {
    if (this.#doesAnother === null) return super.post(calls, bounds);
    const startedAt = performance.now();
    const call = { slowAt: startedAt + SLOW };
    const hung = this.#hung.signal;
    this.#underWay.add(call);
    try {
      const abort = bounds.abort === undefined ? hung : AbortSignal.any([bounds.abort, hung]);
      const results = await super.post(calls, { ...bounds, abort });
      this.#latency = performance.now() - startedAt;
      return results;
    } catch (error) {
      if (!hung.aborted || !(error instanceof ChainUnavailable)) throw error;
      throw new ChainUnavailable("the node does not answer: check that it runs", { cause: error });
    } finally {
      this.#underWay.delete(call);
    }
  }

  /** @param isNewest whether the answer shows that the node is not behind the database. */
  #answered(startedAt: number, isNewest: boolean): void {
    const word = this.#word;
    // An answer to a call from before the last failure does not show that the node works again.
    if (startedAt < this.#failures.lastAt) return;
    // A node whose answer was wrong answers all the time, and one that is behind has old blocks.
    if (word === "disagrees" && performance.now() < this.restUntil) return;
    if (word === "behind" && !isNewest) return;
    [this.#word, this.#problem, this.#failures.inRow] = ["up", "", 0];
    if (word !== "up" && this.isUp) this.#logUsedAgain();
  }

  /** Nothing is read from the node for a while. @returns the error, with the name of the node. */
  failed(error: ChainUnavailable, startedAt = performance.now()): ChainUnavailable {
    const [word, now, failures] = [this.#word, performance.now(), this.#failures];
    this.#named(error);
    failures.all += 1;
    // The call ran beside one that has already failed, so nothing is new.
    if (word !== "up" && startedAt < failures.lastAt) return error;
    const rest =
      error instanceof NodeDisagrees ? DISAGREES_REST : error instanceof NodeBehind ? BEHIND_REST : error.retryAfter;
    this.restUntil = Math.max(this.restUntil, now + (rest ?? backoff(REST, failures.inRow)));
    failures.inRow += 1;
    failures.lastAt = now;
    [this.#word, this.#problem] = [wordOf(error), error.message];
    if (this.#word !== word) this.#logPutAside();
    return error;
  }

  /** The error as it is shown: with the name of the node. */
  #named(error: ChainUnavailable): ChainUnavailable {
    if (error.node !== null) return error;
    error.node = this.name;
    if (!error.message.startsWith(this.name))
      error.message = `${this.name}: ${error.message.replace("RPC_URL", "RPC_URLS")}`;
    return error;
  }

  #logUsedAgain(): void {
    this.#logger?.info({ node: this.number, host: this.#host }, "a node of the chain is used again");
  }

  /** A node that keeps failing and recovering is not logged each time. */
  #logPutAside(): void {
    const { number: node, host, word, problem } = this.state();
    const now = performance.now();
    if (now - (this.#logged.get(word) ?? -Infinity) < LOG_EVERY) return;
    this.#logged.set(word, now);
    const condition: Condition = word === "disagrees" ? "nodes_disagree" : "node_down";
    this.#logger?.warn({ condition, node, host, state: word, problem }, "a node of the chain is not used for now");
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
