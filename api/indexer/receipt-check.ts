import type { Logger } from "pino";
import { z } from "zod";

import { type Block, type ChainClient, MAX_RECEIPTS } from "../chain/client.ts";
import { AnswerTooLarge, ChainUnavailable, NodeDisagrees, RpcError } from "../chain/errors.ts";
import type { RawLog } from "../chain/query-logs.ts";
import {
  agreedHeader,
  NotProven,
  proveHeader,
  proveLogs,
  type ProvenHeader,
  UnknownFormat,
} from "../chain/receipt-proof.ts";
import { hash } from "../chain/values.ts";
import type { Condition } from "../domain/conditions.ts";
import { Slices } from "../shared/in-slices.ts";
import type { Metrics } from "../shared/metrics.ts";
import type { Database } from "../store/db/database.ts";
import { deleteMeta, readMeta, writeMeta, writeMetaOnce } from "../store/db/meta.ts";
import { areSame, type ReadLogs, wantedLogs } from "./wanted-logs.ts";

/** Headers that are read together. */
const HEADERS = 50;
/** Receipts that are read together, where the node does not give those of a block at once. */
const RECEIPTS = 50;
/** With `auto`, the receipts of a block with more transactions are not read one by one: that takes too many calls. */
const MOST_ONE_BY_ONE = 100;
/** Milliseconds for which nothing is checked where proofs seem impossible. */
const OFF = 600_000;
/** Codes for a method that the node does not have (JSON-RPC, EIP-1474). */
const NO_METHOD: ReadonlySet<number> = new Set([-32_601, -32_004]);
/**
 * A unit of gas pays for at most this many bytes of receipts. The longest are logs without topics and data: 375 gas, about 450
 * bytes. Receipts that are longer than the gas of their block allows are a lie.
 */
const BYTES_PER_GAS = 2n;
/**
 * Chains whose blocks show receipts that are not part of the root: Polygon PoS and its test network, for what their bridge does.
 * There, the logs of such receipts are believed without a proof.
 */
const OUTSIDE_OF_ROOT: ReadonlySet<bigint> = new Set([137n, 80_002n]);

/** `receipts_proven`: a block with logs was proven. `receipts_at_once`: a node has given all receipts of a block. */
type Fact = "receipts_proven" | "receipts_at_once";

interface ReceiptCheckDeps {
  database: Database;
  client: ChainClient;
  chainId: bigint;
  /** `true`: nothing is stored without a proof. `auto`: see `#goesOn`. */
  mode: "true" | "auto";
  logger: Pick<Logger, "error" | "warn" | "info">;
  metrics: Pick<Metrics, "receipts">;
}

/**
 * Compares the logs that were read of a block with its receipts, which are proven by the hash of the block: a node that leaves
 * a log out, or invents one, is found out although no other node is asked. A block is checked if logs of it were read, or if the
 * bloom of its proven header says that it may have some.
 *
 * The logs are those of the node that is read. Header and receipts prove themselves, so any node may give them: what the node that
 * is read does not give, or gives in an unknown form, is asked of another one.
 */
export class ReceiptCheck {
  readonly #deps: ReceiptCheckDeps;
  /** Nodes by number that do not give all receipts of a block at once. */
  readonly #oneByOne = new Set<number>();
  readonly #differing = new Set<number>();
  /** Until when the check is off (monotonic clock). */
  #offUntil = 0;
  readonly #facts = new Set<Fact>();
  /** Whether it was logged that a block is not proven. */
  #unproven = false;

  constructor(deps: ReceiptCheckDeps) {
    this.#deps = deps;
  }

  /** Whether the logs of all blocks that were stored lately are proven. */
  async isProving(): Promise<boolean> {
    return (
      (await this.#is("receipts_proven")) && (await readMeta(this.#deps.database.read, "receipts_unproven")) === null
    );
  }

  /** @returns whether all of the logs are proven. @throws NodeDisagrees, ChainUnavailable, RpcError */
  async check(read: ReadLogs): Promise<boolean> {
    if (this.#offUntil > performance.now()) return false;
    const { client, logger } = this.#deps;
    const { number } = client.nodes;
    let found: { last: number | null; isWhole: boolean };
    try {
      found = await this.#check(read);
    } catch (error) {
      if (error instanceof Differs) this.#refuse(error);
      throw error;
    }
    if (found.last !== null) await this.#remember(found.last);
    if (this.#differing.delete(number)) {
      logger.info({ node: number }, "the answers of the node no longer contradict the receipts");
      this.#report();
    }
    return found.isWhole;
  }

  /** @returns `last`: the last block with logs that was proven. `isWhole`: whether all blocks are. */
  async #check(read: ReadLogs): Promise<{ last: number | null; isWhole: boolean }> {
    const wanted = wantedLogs(read);
    const byBlock = Map.groupBy(read.logs.filter(wanted.has), (log) => log.blockNumber);
    const slices = new Slices();
    let last: number | null = null;
    let isWhole = true;
    let parent: ProvenHeader | null = null;
    for (let first = read.from; first <= read.to; first += HEADERS) {
      const numbers = Array.from({ length: Math.min(HEADERS, read.to - first + 1) }, (_, index) => first + index);
      for (const [index, answer] of (await this.#shown(numbers, read.headers)).entries()) {
        const number = first + index;
        await slices.next();
        try {
          const header = await this.#header(number, answer);
          const stored = read.headers.get(number)?.hash ?? header.hash;
          if (stored !== header.hash || (parent !== null && parent.hash !== header.parentHash))
            throw new ChainUnavailable("the node's blocks do not follow each other: there was a reorg");
          parent = header;
          const logs = byBlock.get(number) ?? [];
          if (logs.length > 0 || wanted.mayBeIn(header.logsBloom))
            last = (await this.#compare(header, answer, logs, wanted.has)) ? number : last;
        } catch (error) {
          if (!(error instanceof Unprovable)) throw error;
          await this.#goesOn(error);
          if (this.#offUntil > performance.now()) return { last, isWhole: false };
          isWhole = false;
          parent = null;
        }
      }
    }
    return { last, isWhole };
  }

  /** The blocks as the node shows them. Those whose headers were read already are not asked for again. */
  async #shown(numbers: readonly number[], headers: ReadonlyMap<number, Block>): Promise<object[]> {
    const known = numbers.map((number) => headers.get(number)?.shown);
    const missing = numbers.filter((_, index) => known[index] === undefined);
    const asked = (await this.#deps.client.rawBlocks(missing)).values();
    return known.map((one) => one ?? asked.next().value ?? {});
  }

  #header(number: number, answer: object): Promise<ProvenHeader> {
    const same = (header: ProvenHeader) => {
      const isSame = "hash" in answer && answer.hash === header.hash;
      if (!isSame || header.number !== number) throw new ChainUnavailable("another node has another block");
      return header;
    };
    return this.#prove(
      number,
      () => same(proveHeader(answer)),
      async (why) => {
        const [other] = await this.#deps.client.rawBlocks([number]);
        try {
          return same(proveHeader(other));
        } catch (error) {
          if (!(why instanceof UnknownFormat && error instanceof UnknownFormat)) throw error;
          return same(agreedHeader(answer, other));
        }
      },
    );
  }

  /** @returns whether the block has wanted logs, and all of them are proven. */
  async #compare(
    header: ProvenHeader,
    shown: object,
    logs: readonly RawLog[],
    wanted: (log: RawLog) => boolean,
  ): Promise<boolean> {
    const { client, chainId } = this.#deps;
    const read = () => proveLogs(header, this.#receipts(header), wanted);
    const own = () => proveLogs(header, this.#receipts(header, shown), wanted);
    const { logs: proven, outside } = await this.#prove(header.number, own, read);
    const right = [...proven, ...outside];
    const sorted = logs.toSorted((a, b) => a.logIndex - b.logIndex);
    if (!areSame(right, sorted))
      throw new Differs(
        header.number,
        `the node gave ${sorted.length.toString()} logs of block ${header.number.toString()} that are not the ${right.length.toString()} in its receipts`,
      );
    if (outside.length === 0) return right.length > 0;
    const other = OUTSIDE_OF_ROOT.has(chainId) ? { outside } : await client.nodes.second(read);
    throw new Unprovable(
      header.number,
      `block ${header.number.toString()} has logs in receipts that are not part of its root`,
      other !== null && areSame(outside, other.outside),
    );
  }

  /**
   * Proves with the answers of the node that is read, or else with those of another node.
   * @param other is run on the other node. @throws Differs, Unprovable
   */
  async #prove<T>(block: number, own: () => T | Promise<T>, other: (why: Error) => Promise<T>): Promise<T> {
    try {
      return await own();
    } catch (error) {
      if (!isUnproven(error)) throw error;
      const isCostly = error instanceof TooLarge && error.isCostly;
      let isConfirmed = error instanceof TooLarge;
      const found = await this.#deps.client.nodes.second(async () => {
        try {
          return { proven: await other(error) };
        } catch (theirs) {
          if (!isUnproven(theirs)) throw theirs;
          isConfirmed = true;
          throw new ChainUnavailable(theirs.message);
        }
      });
      const { mode } = this.#deps;
      const isLie = found !== null || (!isConfirmed && (mode === "true" || (await this.#is("receipts_proven"))));
      if (error instanceof NotProven && isLie) throw new Differs(block, error.message);
      if (found !== null) return found.proven;
      throw new Unprovable(block, error.message, isConfirmed, isCostly);
    }
  }

  /** @param known the block as the node shows it, if it was read. */
  async *#receipts({ hash: blockHash, number, gasUsed }: ProvenHeader, known?: object): AsyncGenerator<object[]> {
    const { client } = this.#deps;
    const whole = await this.#atOnce(blockHash);
    if (whole !== null) {
      yield whole;
      return;
    }
    const block = known ?? (await client.rawBlocks([number]))[0];
    const listed = z.object({ transactions: z.array(hash) }).safeParse(block);
    if (!listed.success) throw new UnknownFormat("the node's block does not list the hashes of its transactions");
    const { transactions } = listed.data;
    // Once a node has given all receipts of a block, no node can say that this is not possible.
    if (this.#deps.mode === "auto" && transactions.length > MOST_ONE_BY_ONE && !(await this.#is("receipts_at_once")))
      throw new TooLarge(
        `the node does not give all receipts of block ${number.toString()} at once, and the block has too many`,
        true,
      );
    for (let at = 0, size = RECEIPTS; at < transactions.length;) {
      try {
        const part = await client.rawReceipts(transactions.slice(at, at + size));
        at += size;
        yield part;
      } catch (error) {
        if (error instanceof RpcError && NO_METHOD.has(error.code))
          throw new UnknownFormat("the node does not give receipts");
        if (!(error instanceof AnswerTooLarge)) throw error;
        if (size === 1) throw tooLong(number, gasUsed);
        size = 1;
      }
    }
  }

  /** All receipts of a block. Null: they must be read one by one. */
  async #atOnce(blockHash: string): Promise<object[] | null> {
    const { client } = this.#deps;
    const { number } = client.nodes;
    if (this.#oneByOne.has(number)) return null;
    try {
      const receipts = await client.blockReceipts(blockHash);
      await this.#note("receipts_at_once", blockHash);
      return receipts;
    } catch (error) {
      if (error instanceof AnswerTooLarge) return null;
      if (!(error instanceof RpcError)) throw error;
      if (NO_METHOD.has(error.code)) this.#oneByOne.add(number);
      return null;
    }
  }

  /**
   * A block is not proven. With `auto`, the work goes on if no block with logs of this chain was ever proven, or if the word of the
   * node that is read does not stand alone: another node cannot prove the block either. @throws ChainUnavailable
   */
  async #goesOn({ block, message, isConfirmed, isCostly }: Unprovable): Promise<void> {
    const { client, database, logger, mode } = this.#deps;
    const wasProven = await this.#is("receipts_proven");
    const goesOn = mode === "auto" && (isConfirmed || !wasProven);
    const condition: Condition = "receipts_unproven";
    if (!this.#unproven) {
      const result = goesOn ? "blocks are stored without a proof of their logs" : "nothing of the block is stored";
      await database.write((trx) => writeMeta(trx, "receipts_unproven", message));
      logger.warn({ condition, node: client.nodes.number, block, problem: message }, result);
    }
    this.#unproven = true;
    this.#report();
    if (goesOn) {
      if (!wasProven || isCostly) this.#offUntil = performance.now() + OFF;
      return;
    }
    throw new ChainUnavailable(
      `${message}: nothing of the block is stored. Check ${client.nodes.where}. If the chain has had a fork, update Moneta. ` +
        `VERIFY_RECEIPTS=${mode === "true" ? "auto or false" : "false"} continues without the proof`,
    );
  }

  /** What was ever true with this database. */
  async #is(fact: Fact): Promise<boolean> {
    if (this.#facts.has(fact)) return true;
    if ((await readMeta(this.#deps.database.read, fact)) === null) return false;
    this.#facts.add(fact);
    return true;
  }

  async #note(fact: Fact, value: string): Promise<void> {
    if (await this.#is(fact)) return;
    await this.#deps.database.write((trx) => writeMetaOnce(trx, fact, value));
    this.#facts.add(fact);
  }

  async #remember(block: number): Promise<void> {
    const { database, logger } = this.#deps;
    await this.#note("receipts_proven", block.toString());
    // Another process may have followed the chain, and may have found it.
    if ((await readMeta(database.read, "receipts_unproven")) === null) return;
    await database.write((trx) => deleteMeta(trx, "receipts_unproven"));
    logger.info({ block }, "the receipts of blocks are proven again");
    this.#unproven = false;
    this.#report();
  }

  #refuse({ block, message }: Differs): never {
    const { client, logger } = this.#deps;
    const { number, where } = client.nodes;
    if (!this.#differing.has(number)) {
      const condition: Condition = "receipts_differ";
      logger.error(
        { condition, node: number, block, problem: message },
        "the answers of the node contradict the receipts of a block: nothing of it is stored",
      );
    }
    this.#differing.add(number);
    this.#report();
    return client.nodes.skip(
      new NodeDisagrees(
        `${message}: nothing of the block is stored. Check ${where}. If the chain has other rules for receipts, set VERIFY_RECEIPTS=false`,
      ),
    );
  }

  #report(): void {
    this.#deps.metrics.receipts({ differ: this.#differing.size > 0, unproven: this.#unproven });
  }
}

/** What the node said of a block is wrong. */
class Differs extends Error {
  override readonly name = "Differs";
  readonly block: number;

  constructor(block: number, message: string) {
    super(message);
    this.block = block;
  }
}

/** A block can be neither proven nor refuted. */
class Unprovable extends Error {
  override readonly name = "Unprovable";
  readonly block: number;
  /** Whether another reason than the word of the node that is read says so. */
  readonly isConfirmed: boolean;
  /** Whether the proof would take too many calls, as of the next large block. */
  readonly isCostly: boolean;

  constructor(block: number, message: string, isConfirmed: boolean, isCostly = false) {
    super(message);
    this.block = block;
    this.isConfirmed = isConfirmed;
    this.isCostly = isCostly;
  }
}

/** The receipts of a block cannot be read, for a reason that needs no second node: their number, or the gas of the block. */
class TooLarge extends UnknownFormat {
  readonly isCostly: boolean;

  constructor(message: string, isCostly: boolean) {
    super(message);
    this.isCostly = isCostly;
  }
}

function isUnproven(error: unknown): error is NotProven | UnknownFormat {
  return error instanceof NotProven || error instanceof UnknownFormat;
}

/** If the gas of the block allows it, a stranger can have made them so. */
function tooLong(block: number, gasUsed: bigint): UnknownFormat {
  const message = `the receipts of block ${block.toString()} are too long`;
  return gasUsed * BYTES_PER_GAS > BigInt(MAX_RECEIPTS) ? new TooLarge(message, false) : new UnknownFormat(message);
}
