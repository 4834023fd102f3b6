import { copyFile } from "node:fs/promises";
import { join } from "node:path";

import { sql } from "kysely";
import pino from "pino";

import { ChainClient } from "../../../api/chain/client.ts";
import { Nodes } from "../../../api/chain/nodes.ts";
import type { ContractAddresses } from "../../../api/chain/contracts.ts";
import { DEFAULT_LIMITS, FOREIGN_CALL_GAS } from "../../../api/config/limits.ts";
import { DEFAULT_EVENTS, TOKEN_EVENTS } from "../../../api/domain/events.ts";
import { ContractReader } from "../../../api/indexer/contract-reader.ts";
import { Indexer } from "../../../api/indexer/indexer.ts";
import { createSignals, Signal } from "../../../api/shared/signal.ts";
import { type Database, openDatabase } from "../../../api/store/db/database.ts";
import { readMeta } from "../../../api/store/db/meta.ts";
import { fileOf } from "../../support/database.ts";

/** How one copy of a database reads and stores the chain. */
export interface Manner {
  name: string;
  /** Logs of the next slice. */
  slice: () => number;
  /** Moves of a block whose history is stored with the rest. Default: as in the service. */
  largestHistory?: number;
  /** Blocks of one range. */
  blocks: number;
  /** Whether the process ends before the next step: what it has read ahead is lost. */
  restarts: () => boolean;
  /** Whether it reads nothing before the reorg. */
  late: boolean;
  /** Whether the process ends after a slice. */
  crashes: () => boolean;
}

const NOW = 2_000_000_000_000;

interface Chain {
  url: string;
  contracts: ContractAddresses;
}

class Crash extends Error {}

/** A copy of a database, with an indexer of its own. */
export class IndexedCopy {
  readonly database: Database;
  readonly manner: Manner;
  readonly #chain: Chain;
  #indexer: Indexer | null = null;

  private constructor(database: Database, manner: Manner, chain: Chain) {
    this.database = database;
    this.manner = manner;
    this.#chain = chain;
  }

  /** @param of the URL of a database that nobody has open. */
  static async create(of: string, folder: string, manner: Manner, chain: Chain): Promise<IndexedCopy> {
    const file = join(folder, `${manner.name}.sqlite`);
    await copyFile(fileOf(of), file);
    return new IndexedCopy(await openDatabase(`file:${file}`), manner, chain);
  }

  async checkpoint(): Promise<number> {
    return Number(await readMeta(this.database.read, "checkpoint"));
  }

  /** @returns whether there may be more right away. */
  async step(confirmations: number): Promise<boolean> {
    if (this.manner.restarts()) this.#indexer = null;
    this.#indexer ??= this.#start(confirmations);
    try {
      return await this.#indexer.step();
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      this.#indexer = null;
      return true;
    }
  }

  #start(confirmations: number): Indexer {
    const nothing = () => undefined;
    const { manner } = this;
    return new Indexer({
      database: this.database,
      client: new ChainClient(
        new Nodes([this.#chain.url], { logQueries: { blocks: manner.blocks, addresses: 100, topicsAbove: 100 } }),
      ),
      contracts: this.#chain.contracts,
      signals: createSignals(),
      logger: pino({ level: "silent" }),
      confirmations,
      pollInterval: 1_000,
      // Time stands still: no copy may differ by it.
      now: () => NOW,
      foreignCallGas: FOREIGN_CALL_GAS,
      maxForeignMoves: DEFAULT_LIMITS.foreignLogs,
      metrics: { requests: nothing, batchGas: nothing, reorg: nothing },
      leaseTimes: null,
      receipts: null,
      ...(manner.largestHistory === undefined ? {} : { largestHistory: manner.largestHistory }),
      sliceSize: {
        get value() {
          return manner.slice();
        },
        took: () => {
          if (manner.crashes()) throw new Crash();
        },
      },
    });
  }

  /** Reads in the background what was not read with its block, until nothing is left to read. */
  async readForeign(): Promise<void> {
    let now = NOW;
    const reader = new ContractReader({
      database: this.database,
      client: new ChainClient(this.#chain.url),
      wake: new Signal(),
      logger: pino({ level: "silent" }),
      confirmations: 0,
      foreignCallGas: FOREIGN_CALL_GAS,
      readsPerMinute: 100_000,
      now: () => (now += 10_000),
    });
    while ((await reader.step()) !== "idle");
  }

  close(): Promise<void> {
    return this.database.close();
  }
}

type Rows = Record<string, unknown>[];

/** Which differences are allowed. */
interface Comparison {
  /** false: after a reorg. An owner who has got a token back by a rollback has it since the fork. */
  exact: boolean;
  /** After a reorg, holdings are left out where they depend on these: a balance is known again if a dropped block changed it. */
  followedAgain: ReadonlySet<string>;
}

/** Everything that follows from the chain, in an order that does not depend on row numbers where readers do not see them. */
export async function chainState(
  { read }: Database,
  { exact, followedAgain }: Comparison,
): Promise<Record<string, Rows>> {
  const rows = async (text: string): Promise<Rows> => (await sql.raw<Record<string, unknown>>(text).execute(read)).rows;
  const table = async (name: string, order: string, without: readonly string[] = []) =>
    (await rows(`select * from ${name} order by ${order}`)).map((row) =>
      Object.fromEntries(Object.entries(row).filter(([column]) => !without.includes(column))),
    );
  const place = "transfers.block_number, transfers.log_index, transfers.sub_index";
  // Which events tell of blocks that are not final depends on when a copy read them, and so do the positions of all others.
  const events = await table("events", "seq", ["seq", "id", "position"]);
  const followed = await table("foreign_contracts", "address", ["window_from", "window_logs"]);
  const requests = await table("requests", "seq");
  const isForeign = new Set(followed.map(({ address }) => address));
  const leavesOut = !exact && followedAgain.size > 0;
  const holdings = (await table("holdings", "contract, token_id, owner", ["seq"])).filter(
    ({ contract }) => !leavesOut || !followedAgain.has(String(contract)),
  );
  // A batch that comes later than a cancellation in the same blocks costs something, too. The fees of the charts are those
  // that were known when the request became final.
  const counters = await rows(
    `select key, sum(value) as total from counters where key not like 'series:%:fee_%' and key not like 'events:%'
      group by key having sum(value) <> 0 order by key`,
  );
  return {
    nfts: await table("nfts", "contract, token_id", exact ? ["seq"] : ["seq", "changed_block"]),
    // A balance that was read counts since the last block of its slice.
    holdings: holdings.map((row) =>
      !exact || isForeign.has(row["contract"]) ? { ...row, since_block: null, changed_block: null } : row,
    ),
    // By their numbers, which listings use as the order.
    transfers: await table("transfers", "id", ["id"]),
    history: await rows(
      `select wallet, ${place} from wallet_history join transfers on transfers.id = transfer_id
        order by wallet, transfer_id`,
    ),
    counters: counters.filter(({ key }) => !leavesOut || !/^(holdings|owners):/.test(String(key))),
    // A request that a dropped block had run was changed once more.
    requests: requests.map((row) => (row["status"] === "processing" ? { ...row, updated_at: null } : row)),
    batches: await table("batches", "id"),
    gas: await table("gas_usage", "app_id, day"),
    events: withoutIds(events, DEFAULT_EVENTS),
    tokenEvents: withoutIds(events, TOKEN_EVENTS),
    blocks: await table("blocks", "number"),
    meta: await rows(
      `select key, value from meta where key in ('checkpoint', 'confirmed_block', 'gas_shortage', 'unknown_transaction')
        order by key`,
    ),
    collections: await table("collections", "address", ["seq"]),
    collectionOrder: await rows("select address from collections order by seq"),
    edits: await table("chain_edits", 'block_number, contract, token_id, "column", previous', ["id"]),
    followed,
    follows: await table("contract_follows", "app_id, address, followed_from"),
    uncertain: await table("uncertain_holdings", "contract, token_id, owner"),
  };
}

/** Events of these types, with their bodies parsed. */
function withoutIds(events: Rows, types: readonly string[]): Rows {
  return events
    .filter(({ type }) => types.includes(String(type)))
    .map(({ body, ...row }) => ({ ...row, body: { ...(JSON.parse(String(body)) as object), id: null } }));
}
