import { channel } from "node:diagnostics_channel";

import { ChainUnavailable } from "./errors.ts";

/** The chain that the database belongs to. */
export interface ExpectedChain {
  chainId: bigint;
  /** Hash of block 0. */
  genesis: string;
}

/** The node serves another chain than the one that the database belongs to. */
export class WrongChain extends ChainUnavailable {
  override readonly name = "WrongChain";
}

/** The chain is checked again after this time, in milliseconds (monotonic clock). */
const CHECK_EVERY = 60_000;
/** A new connection within this time of a check belongs to the node that was checked. No node restarts that fast. */
const SAME_NODE = 100;
/** Where Node reports each new connection of `fetch`. */
const CONNECTED = channel("undici:client:connected");

/**
 * Checks that a node still serves the chain of the database: after a failed call, on a new connection, and every
 * minute. Until the check succeeds, no call is answered.
 */
export class ChainGuard {
  readonly #expected: ExpectedChain;
  readonly #read: () => Promise<ExpectedChain | null>;
  readonly #host: string;
  readonly #node: string | null;
  #isChecked: boolean;
  #checkedAt = performance.now();
  #checking: Promise<void> | null = null;
  #problem: string | null = null;
  readonly #timer: NodeJS.Timeout;

  /**
   * Until `stop`, listens for new connections, and checks regularly although no call is made.
   * @param read reads the chain that the node serves, without this guard. Null: it does not return block 0.
   * @param node with several nodes: how messages call this one. Nobody has looked at its chain yet.
   */
  constructor(url: string, expected: ExpectedChain, read: () => Promise<ExpectedChain | null>, node: string | null) {
    this.#host = new URL(url).host;
    this.#node = node;
    this.#isChecked = node === null;
    this.#expected = expected;
    this.#read = read;
    CONNECTED.subscribe(this.#onConnected);
    this.#timer = setInterval(() => {
      // What it finds is kept in `problem`, and the next call reports it.
      this.ensure().catch(() => undefined);
    }, CHECK_EVERY).unref();
  }

  /** What is wrong with the chain; null while it is right or not known. */
  get problem(): string | null {
    return this.#problem;
  }

  stop(): void {
    CONNECTED.unsubscribe(this.#onConnected);
    clearInterval(this.#timer);
  }

  /** A call failed: the node may have been replaced. */
  failed(): void {
    this.#isChecked = false;
  }

  /** Call it before each call, and again before an answer is used. @throws WrongChain, ChainUnavailable, RpcError */
  async ensure(): Promise<void> {
    while (!this.#isChecked || performance.now() - this.#checkedAt >= CHECK_EVERY) {
      await (this.#checking ??= this.#check().finally(() => {
        this.#checking = null;
      }));
    }
  }

  async #check(): Promise<void> {
    // A connection that is made from now on must be checked again. Those of the check itself are young enough.
    this.#isChecked = true;
    this.#checkedAt = performance.now();
    try {
      this.#problem = problemOf(await this.#read(), this.#expected, this.#node);
    } catch (error) {
      this.#isChecked = false;
      throw error;
    }
    this.#checkedAt = performance.now();
    if (this.#problem === null) return;
    this.#isChecked = false;
    throw new WrongChain(this.#problem);
  }

  readonly #onConnected = (message: unknown): void => {
    const { connectParams } = message as { connectParams?: { host?: string } };
    if (connectParams?.host !== this.#host || this.#checking !== null) return;
    if (performance.now() - this.#checkedAt > SAME_NODE) this.#isChecked = false;
  };
}

function problemOf(met: ExpectedChain | null, expected: ExpectedChain, node: string | null): string | null {
  const where = node ?? "the node at RPC_URL";
  const advice =
    node === null
      ? "Nothing is accepted or sent. Connect RPC_URL to the right chain, or restart with a new database."
      : "It is not used. Put a node of the right chain into RPC_URLS.";
  if (met === null) return `${where} does not return block 0, which identifies the chain. ${advice}`;
  const [is, should] = [met.chainId.toString(), expected.chainId.toString()];
  if (is !== should) {
    return `${where} now serves chain ${is}, but the database belongs to chain ${should}. ${advice}`;
  }
  if (met.genesis === expected.genesis) return null;
  return (
    `${where} now serves another chain with the id ${is}: its block 0 is different ` +
    `(a local node begins a new chain each time it starts). ${advice}`
  );
}
