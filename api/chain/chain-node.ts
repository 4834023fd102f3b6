import type { Logger } from "pino";

import type { Condition, NodeWord } from "../domain/conditions.ts";
import { pause } from "../shared/pause.ts";
import { type ChainGuard, WrongChain } from "./chain-guard.ts";
import { AnswerTooLarge, behind, CallAborted, ChainUnavailable, NodeBehind, RateLimited } from "./errors.ts";
import type { NodeState } from "./node-choice.ts";
import { Rpc, type RpcBounds, type RpcCall, type RpcOptions, type RpcResult } from "./rpc.ts";

/*
 * All times in milliseconds, of the monotonic clock.
 */

/** An HTTP request that takes longer is suspected to hang: the node is then asked for its newest block. */
const SUSPECT = 1_500;
/** A node that does not name its newest block in this time hangs. */
const PROBE_TIMEOUT = 2_000;
/** A node that nobody asked for this long is asked for its newest block. */
const PROBE_EVERY = 15_000;
/** Rest of a node that failed, before it is asked again. It doubles with each further failure up to `LONGEST_REST`. */
const FIRST_REST = 1_000;
const LONGEST_REST = 30_000;
/** Rest of a node that is behind the database. */
const BEHIND_REST = 1_000;
/** A node that the others outvoted is compared with them again when it has not contradicted for this long. */
const DISAGREES_REST = 30_000;

const HEAD: RpcCall = { method: "eth_blockNumber", params: [] };
const NO_HEAD = "the node does not name its newest block";

export interface NodeOptions extends RpcOptions {
  /** The block up to which the database is. A node below it is never asked for its newest state. */
  floor: () => Promise<number>;
  /** Told when a node is put aside, and when it is used again. */
  logger: Pick<Logger, "warn" | "info">;
}

/** One of several nodes: its connection, and what its answers show about it. */
export class ChainNode {
  readonly number: number;
  readonly host: string;
  /** For messages. It never has the URL, which may contain a provider's key. */
  readonly name: string;
  readonly url: string;
  /** Whether signed transactions are sent to it. */
  readonly sends: boolean;
  readonly rpc: NodeRpc;
  guard: ChainGuard | null = null;
  /** The lowest block about which the others outvoted it, and when it last contradicted them; null: it may be read. */
  #outvoted: { height: number; at: number } | null = null;
  readonly #log: NodeLog;
  #isUp = true;
  #restUntil = 0;
  #failedAt = 0;
  #failures = 0;
  #failed = 0;
  #error: ChainUnavailable | null = null;
  #head: number | null = null;
  #headAt: number | null = null;
  #latency: number | null = null;
  /** Ends the calls under way when the node turns out to hang. */
  #hung = new AbortController();
  readonly #underWay = new Set<{ suspectAt: number }>();
  #probing: Promise<void> | null = null;

  constructor(
    { number, url, sends }: { number: number; url: string; sends: boolean },
    { floor, logger, ...options }: NodeOptions,
  ) {
    this.number = number;
    this.host = new URL(url).host;
    this.name = `node ${number.toString()} (${this.host})`;
    this.url = url;
    this.sends = sends;
    this.#log = new NodeLog(logger);
    this.rpc = new NodeRpc(this, floor, options);
  }

  /** Whether it is read and sent to. */
  get isUp(): boolean {
    return this.#isUp && this.#outvoted === null;
  }

  /** Whether it answers, even if the others outvoted it. */
  get answers(): boolean {
    return this.#isUp;
  }

  get outvotedAt(): number | null {
    return this.#outvoted?.height ?? null;
  }

  /** Whether it was outvoted, and has not contradicted for some time. */
  get mayAgreeAgain(): boolean {
    return this.#isUp && this.#outvoted !== null && performance.now() - this.#outvoted.at >= DISAGREES_REST;
  }

  outvote(height: number): void {
    this.#outvoted = { height: Math.min(height, this.#outvoted?.height ?? height), at: performance.now() };
    this.#log.changed(this.state());
  }

  reinstate(): void {
    if (this.#outvoted === null) return;
    this.#outvoted = null;
    this.#log.changed(this.state());
  }

  /** When it may be asked again. */
  get restUntil(): number {
    return this.#restUntil;
  }

  get head(): number | null {
    return this.#head;
  }

  state(): NodeState {
    return {
      number: this.number,
      host: this.host,
      word: this.#isUp && this.#outvoted !== null ? "disagrees" : wordOf(this.#isUp ? null : this.#error),
      head: this.#head,
      headAge: this.#headAt === null ? null : (performance.now() - this.#headAt) / 1_000,
      latency: this.#latency === null ? null : this.#latency / 1_000,
      failures: this.#failed,
      sends: this.sends,
      problem: this.#isUp ? this.#contradiction() : (this.#error?.message ?? null),
    };
  }

  #contradiction(): string | null {
    if (this.#outvoted === null) return null;
    return `${this.name}: contradicts the other nodes about block ${this.#outvoted.height.toString()}: it is not read until it agrees with them`;
  }

  /** Called often. Asks the node for its newest block when a call takes long, when it may work again, or when nobody asked it. */
  look(now = performance.now()): void {
    const suspect = [...this.#underWay].some(({ suspectAt }) => now >= suspectAt);
    const due = this.#isUp ? suspect || now - (this.#headAt ?? -Infinity) >= PROBE_EVERY : now >= this.#restUntil;
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
    const late = pause(PROBE_TIMEOUT, ended.signal).then(() => {
      if (!ended.signal.aborted) this.#hangs();
    });
    try {
      await this.rpc.probe();
    } catch {
      // An error of the node is kept in its state already. Others, such as an answer that is too long, are not.
      if (this.#isUp) this.failed(this.named(new ChainUnavailable(NO_HEAD)), performance.now());
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

  /** A call begins. */
  begin(): { startedAt: number; hung: AbortSignal; end: () => void } {
    const startedAt = performance.now();
    const call = { suspectAt: startedAt + SUSPECT };
    this.#underWay.add(call);
    return { startedAt, hung: this.#hung.signal, end: () => this.#underWay.delete(call) };
  }

  answered(startedAt: number): void {
    this.#latency = performance.now() - startedAt;
    // An answer to a call from before the last failure does not show that the node works again.
    if (startedAt < this.#failedAt) return;
    const wasUp = this.#isUp;
    this.#isUp = true;
    this.#failures = 0;
    this.#error = null;
    if (!wasUp) this.#log.changed(this.state());
  }

  names(head: number): void {
    this.#head = head;
    this.#headAt = performance.now();
  }

  /** Nothing is read from the node for a while. */
  failed(error: ChainUnavailable, startedAt: number): void {
    this.#failed += 1;
    // Calls that ran side by side fail together.
    if (!this.#isUp && startedAt < this.#failedAt) return;
    const rest =
      error instanceof NodeBehind
        ? BEHIND_REST
        : (error.retryAfter ?? Math.min(FIRST_REST * 2 ** this.#failures, LONGEST_REST));
    this.#failures += 1;
    this.#failedAt = performance.now();
    this.#restUntil = Math.max(this.#restUntil, this.#failedAt + rest);
    this.#error = error;
    this.#isUp = false;
    this.#log.changed(this.state());
  }

  #hangs(): void {
    const { signal } = this.#hung;
    if (signal.aborted) return;
    const hung = this.#hung;
    this.#hung = new AbortController();
    hung.abort();
  }
}

function wordOf(error: ChainUnavailable | null): NodeWord {
  if (error === null) return "up";
  if (error instanceof RateLimited) return "rate_limited";
  if (error instanceof WrongChain) return "wrong_chain";
  if (error instanceof NodeBehind) return "behind";
  return "down";
}

/** Milliseconds in which the same about a node that flaps is logged only once. */
const LOG_EVERY = 60_000;

/** Logs when a node is put aside and when it is used again, but not each time that it fails. */
class NodeLog {
  readonly #logger: Pick<Logger, "warn" | "info">;
  readonly #logged = new Map<NodeWord, number>();
  #last: NodeWord = "up";

  constructor(logger: Pick<Logger, "warn" | "info">) {
    this.#logger = logger;
  }

  changed({ number: node, host, word, problem }: NodeState): void {
    const now = performance.now();
    if (word === "up") {
      if (this.#last !== "up") this.#logger.info({ node, host }, "a node of the chain is used again");
    } else {
      if (word === this.#last || now - (this.#logged.get(word) ?? -Infinity) < LOG_EVERY) return;
      this.#logged.set(word, now);
      const condition: Condition = word === "disagrees" ? "nodes_disagree" : "node_down";
      this.#logger.warn({ condition, node, host, state: word, problem }, "a node of the chain is not used for now");
    }
    this.#last = word;
  }
}

/** Calls whose answers are older than the database when the node is behind. */
function readsNewest({ params }: RpcCall): boolean {
  return params.some((param) => param === "latest" || param === "pending");
}

/** The calls of one of several nodes. Each answer says how the node is. */
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
    const { startedAt, hung, end } = node.begin();
    const abort = bounds.abort === undefined ? hung : AbortSignal.any([bounds.abort, hung]);
    try {
      const results = await this.#checked(calls, { ...bounds, abort }, newest);
      node.answered(startedAt);
      return results;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      if (bounds.abort?.aborted === true) throw new CallAborted(error);
      if (error instanceof AnswerTooLarge) throw error;
      const shown = hung.aborted
        ? new ChainUnavailable("the node does not answer: check that it runs", { cause: error })
        : error;
      node.named(shown);
      node.failed(shown, startedAt);
      throw shown;
    } finally {
      end();
    }
  }

  /** Asks for the newest block. @throws NodeBehind */
  async probe(): Promise<void> {
    await this.#read([HEAD], {}, true);
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
      if (head !== null && head < least) throw behind(head, least);
    }
    return asked.length === calls.length ? results : results.slice(1);
  }
}

/** The last block of a query for the logs of a range; -1: it is none. */
function lastOfLogs({ method, params: [query] }: RpcCall): number {
  if (method !== "eth_getLogs" || typeof query !== "object" || query === null || !("toBlock" in query)) return -1;
  return Number(query.toBlock);
}

function namesHead({ method, params }: RpcCall): boolean {
  return method === HEAD.method || (method === "eth_getBlockByNumber" && params[0] === "latest");
}

/** Null: the answer does not say. Whoever asked reports it. */
function headOf(value: unknown): number | null {
  const text: unknown = typeof value === "object" && value !== null && "number" in value ? value.number : value;
  const head = typeof text === "string" && /^0x[0-9a-f]+$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(head) ? head : null;
}
