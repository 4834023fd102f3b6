import { id } from "ethers";

import type { ChainClient } from "../../../../api/chain/client.ts";
import type { ContractAddresses } from "../../../../api/chain/contracts.ts";
import type { IndexerContext } from "../../../../api/indexer/context.ts";
import { Indexer } from "../../../../api/indexer/indexer.ts";
import type { ReceiptCheck } from "../../../../api/indexer/receipt-check.ts";
import type { LeaseTimes } from "../../../../api/shared/lease.ts";
import { NO_METRICS } from "../../../../api/shared/metrics.ts";
import type { Database } from "../../../../api/store/db/database.ts";
import { type FakeRpc, startFakeRpc } from "../../../support/fake-rpc.ts";
import { hashOf } from "../../support/rows.ts";
import { indexerContext } from "./context.ts";

const TRANSFER = id("Transfer(address,address,uint256)");

interface LogQuery {
  address?: string[];
  fromBlock?: string;
  toBlock?: string;
  blockHash?: string;
}

/** A node with empty blocks, and with logs where a test puts them. */
export class FakeChain {
  readonly fake: FakeRpc;
  head: number;
  /** The block from which on its chain is its own. */
  fork = Infinity;
  /** Its logs: the contract by block, one in each. */
  readonly logs = new Map<number, string>();
  /** It refuses queries for the logs of this contract, because there are too many. */
  floods: string | null = null;
  /** It refuses all queries for logs. */
  hasNoLogs = false;
  readonly #name: string;

  private constructor(name: string, head: number, fake: FakeRpc) {
    this.#name = name;
    this.head = head;
    this.fake = fake;
  }

  /** @param name of the chain from the fork on. */
  static async start(name: string, head: number): Promise<FakeChain> {
    const chain: FakeChain = new FakeChain(
      name,
      head,
      await startFakeRpc(({ method, params }) => {
        if (method === "eth_blockNumber") return hex(chain.head);
        if (method === "eth_getLogs") return chain.#logsOf(params[0] as LogQuery);
        const number = Number(params[0]);
        const block = { number: hex(number), hash: chain.hashAt(number), parentHash: chain.hashAt(number - 1) };
        return number > chain.head ? null : { ...block, timestamp: "0x1", gasLimit: "0x1" };
      }),
    );
    return chain;
  }

  hashAt(number: number): string {
    return hashOf(`${number >= this.fork ? this.#name : "main"} ${number.toString()}`);
  }

  #logsOf({ address = [], fromBlock, toBlock, blockHash }: LogQuery) {
    if (this.hasNoLogs) return { error: { code: -32000, message: "no logs here" } };
    if (this.floods !== null && address.includes(this.floods))
      return { error: { code: -32005, message: "query returned more than 10000 results" } };
    const isMeant = (block: number) =>
      blockHash === undefined
        ? block >= Number(fromBlock) && block <= Number(toBlock)
        : blockHash === this.hashAt(block);
    return [...this.logs]
      .filter(([block, contract]) => address.includes(contract) && isMeant(block))
      .map(([block, contract]) => ({
        address: contract,
        topics: [TRANSFER, ...[1, 2, 3].map((topic) => hashOf(topic.toString()))],
        data: "0x",
        blockNumber: hex(block),
        blockHash: this.hashAt(block),
        transactionHash: hashOf("a transaction"),
        logIndex: "0x0",
      }));
  }
}

function hex(number: number): string {
  return `0x${number.toString(16)}`;
}

interface FakeIndexer {
  contracts: ContractAddresses;
  confirmations: number;
  /** Absent: nothing is proven. */
  receipts?: Pick<ReceiptCheck, "check" | "isProving">;
  /** Absent: it works only when a test calls `step`. */
  leaseTimes?: LeaseTimes;
  /** Absent: it adapts to how long commits take. */
  sliceSize?: NonNullable<IndexerContext["sliceSize"]>;
  /** Called with the number of blocks that were undone. */
  reorg?: (blocks: number) => void;
}

export function createIndexer(
  database: Database,
  client: ChainClient,
  { contracts, confirmations, receipts, reorg, leaseTimes, sliceSize }: FakeIndexer,
): Indexer {
  return new Indexer(
    indexerContext(database, {
      client,
      contracts,
      confirmations,
      receipts: receipts ?? null,
      leaseTimes: leaseTimes ?? null,
      ...(sliceSize === undefined ? {} : { sliceSize }),
      ...(reorg === undefined ? {} : { metrics: { ...NO_METRICS, reorg } }),
    }),
  );
}
