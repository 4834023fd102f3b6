import type { Logger } from "pino";
import { z } from "zod";

import type { Block, ChainClient } from "../chain/client.ts";
import { COLLECTION_TOPICS, MOVE_TOPICS } from "../chain/codec/decode.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { AnswerTooLarge, ChainUnavailable, ReceiptsDiffer, RpcError } from "../chain/errors.ts";
import type { RawLog } from "../chain/query-logs.ts";
import {
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
import { mapInSlices } from "../shared/in-slices.ts";
import type { Metrics } from "../shared/metrics.ts";
import type { Watched } from "./read-range.ts";

/** Headers that are read together. */
const HEADERS = 50;
/** Milliseconds for which a node's receipts are not checked after they had an unknown format. */
const OFF = 600_000;
/** With more contracts than this, the bloom of a header is checked for their events only, not for their addresses. */
const MOST_ADDRESSES = 2_000;
const METHOD_NOT_FOUND = -32_601;

/** What was read of a range of blocks. */
interface ReadLogs {
  from: number;
  to: number;
  headers: ReadonlyMap<number, Block>;
  logs: readonly RawLog[];
  contracts: ContractAddresses;
  watched: Watched;
  /** Collections that the range creates. */
  fresh: ReadonlySet<string>;
  /** Followed contracts whose logs were not read. */
  flooding: ReadonlySet<string>;
}

interface ReceiptCheckDeps {
  client: ChainClient;
  logger: Pick<Logger, "error" | "warn" | "info">;
  metrics: Pick<Metrics, "receipts">;
}

/**
 * Compares the logs that were read of a block with its receipts, which are proven by the hash of the block: a node that leaves
 * a log out, or invents one, is found out although no other node is asked. A block is checked if logs of it were read, or if the
 * bloom of its proven header says that it may have some.
 */
export class ReceiptCheck {
  readonly #deps: ReceiptCheckDeps;
  /** Nodes by number that do not give all receipts of a block at once. */
  readonly #oneByOne = new Set<number>();
  /** Until when the check is off, by the number of the node (monotonic clock). */
  readonly #off = new Map<number, number>();
  readonly #differing = new Set<number>();
  /** Whether a header was proven: the rules of the chain are known. */
  #works = false;

  constructor(deps: ReceiptCheckDeps) {
    this.#deps = deps;
  }

  /** @throws ReceiptsDiffer, ChainUnavailable, RpcError */
  async check(read: ReadLogs): Promise<void> {
    const { client, logger } = this.#deps;
    const { number, where } = client.nodes;
    if ((this.#off.get(number) ?? 0) > performance.now()) return;
    try {
      await this.#check(read);
    } catch (error) {
      if (error instanceof UnknownFormat) {
        this.#off.set(number, performance.now() + OFF);
        this.#warn(number, error.message);
        this.#report();
        return;
      }
      if (!(error instanceof Differs)) throw error;
      if (!this.#differing.has(number)) {
        const condition: Condition = "receipts_differ";
        logger.error(
          { condition, node: number, block: error.block, problem: error.message },
          "the answers of the node contradict the receipts of a block: nothing of it is stored",
        );
      }
      this.#differing.add(number);
      this.#report();
      client.nodes.skip(
        new ReceiptsDiffer(
          `${error.message}: nothing of the block is stored. Check ${where}. If the chain has other rules for receipts, set VERIFY_RECEIPTS=false`,
        ),
      );
    }
    const was = [this.#off.delete(number), this.#differing.delete(number)];
    if (!was.includes(true)) return;
    logger.info({ node: number }, "the receipts of the node are proven again");
    this.#report();
  }

  async #check(read: ReadLogs): Promise<void> {
    const wanted = wantedLogs(read);
    const byBlock = Map.groupBy(read.logs.filter(wanted.has), (log) => log.blockNumber);
    let parent: ProvenHeader | null = null;
    for (let first = read.from; first <= read.to; first += HEADERS) {
      const numbers = Array.from({ length: Math.min(HEADERS, read.to - first + 1) }, (_, index) => first + index);
      const answers = await this.#deps.client.rawBlocks(numbers);
      const headers = await mapInSlices(answers, (answer) => differsIf(first, () => proveHeader(answer))).catch(
        (error: unknown) => this.#rulesOf(read.from - 1, error),
      );
      this.#works = true;
      for (const [index, header] of headers.entries()) {
        const stored = read.headers.get(header.number)?.hash ?? header.hash;
        const follows: boolean = parent === null || parent.hash === header.parentHash;
        if (header.number !== numbers[index] || stored !== header.hash || !follows)
          throw new ChainUnavailable("the node's blocks do not follow each other: there was a reorg");
        parent = header;
        const logs = byBlock.get(header.number) ?? [];
        if (logs.length > 0 || wanted.mayBeIn(header.logsBloom))
          await this.#compare(header, answers[index], logs, wanted.has);
      }
    }
  }

  /**
   * A header was not proven. As long as none was, the reason may be that the chain has other rules: then the block before, which
   * was stored earlier, is not proven either.
   */
  async #rulesOf(before: number, error: unknown): Promise<never> {
    if (this.#works || !(error instanceof Differs) || before < 0) throw error;
    const [answer] = await this.#deps.client.rawBlocks([before]);
    try {
      proveHeader(answer);
    } catch (earlier) {
      if (earlier instanceof NotProven) throw new UnknownFormat(`the headers have other rules: ${earlier.message}`);
      throw earlier;
    }
    throw error;
  }

  async #compare(
    header: ProvenHeader,
    block: unknown,
    logs: readonly RawLog[],
    wanted: (log: RawLog) => boolean,
  ): Promise<void> {
    const receipts = await this.#receipts(header, block);
    if (receipts === null) return;
    const proven = await proveLogs(header, receipts).catch((error: unknown) => {
      throw error instanceof NotProven ? new Differs(header.number, error.message) : error;
    });
    const right = proven.filter(wanted);
    const sorted = logs.toSorted((a, b) => a.logIndex - b.logIndex);
    if (right.length === sorted.length && right.every((log, index) => isSame(log, sorted[index]))) return;
    throw new Differs(
      header.number,
      `the node gave ${sorted.length.toString()} logs of block ${header.number.toString()} that are not the ${right.length.toString()} in its receipts`,
    );
  }

  /** Null: they are too long to be checked. A stranger can make them so, and must not stop the work. */
  async #receipts(header: ProvenHeader, block: unknown): Promise<unknown[] | null> {
    const { client } = this.#deps;
    try {
      return await this.#allReceipts(header, block);
    } catch (error) {
      if (!(error instanceof AnswerTooLarge)) throw error;
      this.#warn(client.nodes.number, `the receipts of block ${header.number.toString()} are too long`);
      return null;
    }
  }

  async #allReceipts({ hash: blockHash }: ProvenHeader, block: unknown): Promise<unknown[]> {
    const { client } = this.#deps;
    const { number } = client.nodes;
    if (!this.#oneByOne.has(number)) {
      try {
        return await client.blockReceipts(blockHash);
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        if (error.code === METHOD_NOT_FOUND) this.#oneByOne.add(number);
      }
    }
    const listed = z.object({ transactions: z.array(hash) }).safeParse(block);
    if (!listed.success) throw new UnknownFormat("the node's block does not list the hashes of its transactions");
    try {
      return await client.rawReceipts(listed.data.transactions);
    } catch (error) {
      if (error instanceof RpcError && error.code === METHOD_NOT_FOUND)
        throw new UnknownFormat("the node does not give receipts");
      throw error;
    }
  }

  #warn(node: number, problem: string): void {
    const condition: Condition = "receipts_unproven";
    this.#deps.logger.warn({ condition, node, problem }, "blocks are stored without a check of their receipts");
  }

  #report(): void {
    this.#deps.metrics.receipts({ differ: this.#differing.size > 0, unproven: this.#off.size > 0 });
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

function differsIf<T>(block: number, prove: () => T): T {
  try {
    return prove();
  } catch (error) {
    throw error instanceof NotProven ? new Differs(block, error.message) : error;
  }
}

/** Which logs are read of each block, so that those of the receipts can be compared with them. */
function wantedLogs({ contracts, watched, fresh, flooding }: ReadLogs): {
  has: (log: RawLog) => boolean;
  mayBeIn: (logsBloom: Buffer) => boolean;
} {
  const own = new Set([contracts.relay, ...contracts.factories.map(({ address }) => address)]);
  const isOwn = (address: string) => watched.collections.has(address) || fresh.has(address);
  const has = ({ address, topics: [topic = "", ...others] }: RawLog) => {
    if (own.has(address)) return true;
    // Transfers of NFTs have four topics. Queries that name no contract leave all others out.
    if (MOVE_TOPICS.includes(topic) && others.length !== 3) return false;
    if (isOwn(address)) return COLLECTION_TOPICS.includes(topic);
    return watched.foreign.has(address) && !flooding.has(address) && MOVE_TOPICS.includes(topic);
  };
  const tokens = [...watched.collections.keys(), ...fresh, ...watched.foreign.keys()];
  const [ownBits, topicBits] = [[...own].map(bloomBits), COLLECTION_TOPICS.map(bloomBits)];
  const tokenBits = tokens.length > MOST_ADDRESSES ? null : tokens.map(bloomBits);
  const mayBeIn = (logsBloom: Buffer) => {
    const any = (values: readonly (readonly number[])[]) => values.some((bits) => mayHave(logsBloom, bits));
    return any(ownBits) || (tokens.length > 0 && any(topicBits) && (tokenBits === null || any(tokenBits)));
  };
  return { has, mayBeIn };
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
