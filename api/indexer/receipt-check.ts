import type { Logger } from "pino";
import { z } from "zod";

import { type Block, type ChainClient, MAX_RECEIPTS, shownBlock } from "../chain/client.ts";
import { COLLECTION_TOPICS, MOVE_TOPICS } from "../chain/codec/decode.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { AnswerTooLarge, ChainUnavailable, ReceiptsDiffer, ReceiptsUnproven, RpcError } from "../chain/errors.ts";
import type { RawLog } from "../chain/query-logs.ts";
import {
  agreedHeader,
  bloomBits,
  mayHave,
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
import type { IndexedAddresses } from "./read-range.ts";

/** Headers that are read together. */
const HEADERS = 50;
/** Receipts that are read together, where the node does not give those of a block at once. */
const RECEIPTS = 50;
/** Milliseconds for which nothing is checked on a chain of which no block was ever proven. */
const OFF = 600_000;
/** With more contracts than this, the bloom of a header is checked for their events only, not for their addresses. */
const MOST_ADDRESSES = 2_000;
const METHOD_NOT_FOUND = -32_601;
/**
 * Most bytes of receipts for a unit of gas. The longest are logs without topics and data: 375 gas, about 450 bytes. Receipts
 * that are longer than the gas of their block allows are a lie.
 */
const BYTES_PER_GAS = 2n;
/**
 * Chains whose blocks show receipts that are not part of the root: Polygon PoS and its test network, for what their bridge does.
 * There, the logs of such receipts are believed without a proof.
 */
const OUTSIDE_OF_ROOT: ReadonlySet<bigint> = new Set([137n, 80_002n]);

/** What was read of a range of blocks. */
interface ReadLogs {
  from: number;
  to: number;
  headers: ReadonlyMap<number, Block>;
  logs: readonly RawLog[];
  contracts: ContractAddresses;
  indexed: IndexedAddresses;
  /** Collections that the range creates. */
  fresh: ReadonlySet<string>;
  /** Followed contracts whose logs were not read. */
  flooding: ReadonlySet<string>;
}

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
  /** Whether a block with logs of this chain was ever proven. Null: the database was not asked yet. */
  #everProven: boolean | null = null;
  /** Whether it was logged that a block is not proven. */
  #unproven = false;

  constructor(deps: ReceiptCheckDeps) {
    this.#deps = deps;
  }

  /** Whether the logs of all blocks that were stored lately are proven. */
  async isProving(): Promise<boolean> {
    return (await this.#wasEverProven()) && (await readMeta(this.#deps.database.read, "receipts_unproven")) === null;
  }

  /** @returns whether all of the logs are proven. @throws ReceiptsDiffer, ReceiptsUnproven, ChainUnavailable, RpcError */
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
    const known = numbers.map((number) => {
      const header = headers.get(number);
      return header === undefined ? undefined : shownBlock(header);
    });
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
      let isConfirmed = error instanceof TooLong && error.byGas;
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
      const isLie = found !== null || (!isConfirmed && (mode === "true" || (await this.#wasEverProven())));
      if (error instanceof NotProven && isLie) throw new Differs(block, error.message);
      if (found !== null) return found.proven;
      throw new Unprovable(block, error.message, isConfirmed);
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
    for (let at = 0, size = RECEIPTS; at < transactions.length;) {
      try {
        const part = await client.rawReceipts(transactions.slice(at, at + size));
        at += size;
        yield part;
      } catch (error) {
        if (error instanceof RpcError && error.code === METHOD_NOT_FOUND)
          throw new UnknownFormat("the node does not give receipts");
        if (!(error instanceof AnswerTooLarge)) throw error;
        if (size === 1) throw new TooLong(number, gasUsed);
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
      return await client.blockReceipts(blockHash);
    } catch (error) {
      if (error instanceof AnswerTooLarge) return null;
      if (!(error instanceof RpcError)) throw error;
      if (error.code === METHOD_NOT_FOUND) this.#oneByOne.add(number);
      return null;
    }
  }

  /**
   * A block is not proven. With `auto`, the work goes on if no block with logs of this chain was ever proven, or if the word of the
   * node that is read does not stand alone: another node cannot prove the block either. @throws ReceiptsUnproven
   */
  async #goesOn({ block, message, isConfirmed }: Unprovable): Promise<void> {
    const { client, database, logger, mode } = this.#deps;
    const wasProven = await this.#wasEverProven();
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
      if (!wasProven) this.#offUntil = performance.now() + OFF;
      return;
    }
    throw new ReceiptsUnproven(
      `${message}: nothing of the block is stored. Check ${client.nodes.where}. If the chain has had a fork, update Moneta. ` +
        `VERIFY_RECEIPTS=${mode === "true" ? "auto or false" : "false"} continues without the proof`,
    );
  }

  async #wasEverProven(): Promise<boolean> {
    this.#everProven ??= (await readMeta(this.#deps.database.read, "receipts_proven")) !== null;
    return this.#everProven;
  }

  async #remember(block: number): Promise<void> {
    const { database, logger } = this.#deps;
    if (!(await this.#wasEverProven()))
      await database.write((trx) => writeMetaOnce(trx, "receipts_proven", block.toString()));
    this.#everProven = true;
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
      new ReceiptsDiffer(
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

  constructor(block: number, message: string, isConfirmed: boolean) {
    super(message);
    this.block = block;
    this.isConfirmed = isConfirmed;
  }
}

class TooLong extends UnknownFormat {
  /** Whether the gas of the block allows it. Then a stranger can have made them so. */
  readonly byGas: boolean;

  constructor(block: number, gasUsed: bigint) {
    super(`the receipts of block ${block.toString()} are too long`);
    this.byGas = gasUsed * BYTES_PER_GAS > BigInt(MAX_RECEIPTS);
  }
}

function isUnproven(error: unknown): error is NotProven | UnknownFormat {
  return error instanceof NotProven || error instanceof UnknownFormat;
}

/** Which logs are read of each block, so that those of the receipts can be compared with them. */
function wantedLogs({ contracts, indexed, fresh, flooding }: ReadLogs): {
  has: (log: RawLog) => boolean;
  mayBeIn: (logsBloom: Buffer) => boolean;
} {
  const own = new Set([contracts.relay, ...contracts.factories.map(({ address }) => address)]);
  const isOwn = (address: string) => indexed.collections.has(address) || fresh.has(address);
  const has = ({ address, topics: [topic = "", ...others] }: RawLog) => {
    if (own.has(address)) return true;
    // Transfers of NFTs have four topics. Queries that name no contract leave all others out.
    if (MOVE_TOPICS.includes(topic) && others.length !== 3) return false;
    if (isOwn(address)) return COLLECTION_TOPICS.includes(topic);
    return indexed.foreign.has(address) && !flooding.has(address) && MOVE_TOPICS.includes(topic);
  };
  const tokens = [...indexed.collections.keys(), ...fresh, ...indexed.foreign.keys()];
  const [ownBits, topicBits] = [[...own].map(bloomBits), COLLECTION_TOPICS.map(bloomBits)];
  const tokenBits = tokens.length > MOST_ADDRESSES ? null : tokens.map(bloomBits);
  const mayBeIn = (logsBloom: Buffer) => {
    const any = (values: readonly (readonly number[])[]) => values.some((bits) => mayHave(logsBloom, bits));
    return any(ownBits) || (tokens.length > 0 && any(topicBits) && (tokenBits === null || any(tokenBits)));
  };
  return { has, mayBeIn };
}

function areSame(some: readonly RawLog[], others: readonly RawLog[]): boolean {
  return some.length === others.length && some.every((log, index) => isSame(log, others[index]));
}

function isSame(proven: RawLog, read: RawLog | undefined): boolean {
  return (
    read !== undefined &&
    proven.address === read.address &&
    proven.data.toLowerCase() === read.data.toLowerCase() &&
    proven.transactionHash === read.transactionHash &&
    proven.blockHash === read.blockHash &&
    proven.topics.join() === read.topics.join()
  );
}
