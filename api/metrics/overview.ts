import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import type { NodeChoice } from "../chain/node-choice.ts";
import { daysLeft, SPENDING_PERIOD } from "../domain/conditions.ts";
import type { PipelineReasons } from "../domain/waiting-for.ts";
import type { Database } from "../store/db/database.ts";
import type { Db } from "../store/db/sql.ts";
import { countProcesses, type SharedRole } from "../store/db/presence.ts";
import { countDeliveries, readPipeline } from "../store/metrics/pipeline.ts";
import { readReasons } from "../store/sending/reasons.ts";
import { spentSince } from "../store/sending/spent.ts";
import { type ChainState, readChainState } from "./chain-state.ts";
import { Source } from "./source.ts";

/** Milliseconds for which a result is reused. Adding up what a busy lane spent in a day takes long. */
const FRESH = { database: 1_000, chain: 5_000, spent: 60_000 };

interface OverviewDeps {
  database: Database;
  client: ChainClient;
  /** Address of the relay. */
  relay: string;
  /** Numbers of the lanes that the settings have. */
  lanes: readonly number[];
  /** Highest price per unit of gas that the operator accepts, in wei. */
  maxFeePerGas: bigint;
  /** Milliseconds for which a process says that it runs. */
  presence: number;
  logger: Logger;
  now: () => number;
}

/** What the operator's console shows. However many callers ask, only one read runs at a time, and all of them get its result. */
export class Overview {
  readonly #lanes: readonly number[];
  readonly #nodes: Pick<NodeChoice, "states">;
  readonly #reasons: Source<PipelineReasons>;
  readonly #stored: Source<Awaited<ReturnType<typeof readStored>>>;
  readonly #chain: Source<ChainState>;
  readonly #spent: Source<ReadonlyMap<number, bigint>>;

  constructor({ database: { read }, client, relay, lanes, maxFeePerGas, presence, logger, now }: OverviewDeps) {
    this.#lanes = lanes;
    this.#nodes = client.nodes;
    const failed = "the operator's overview cannot read a source";
    this.#reasons = new Source("reasons", () => readReasons(read, { lanes, now: now(), presence }), {
      fresh: FRESH.database,
      logger,
      failed,
    });
    this.#stored = new Source("database", () => readStored(read, now(), presence), {
      fresh: FRESH.database,
      logger,
      failed,
    });
    this.#chain = new Source("chain", () => readChainState({ client, read, relay, lanes, maxFeePerGas }), {
      fresh: FRESH.chain,
      logger,
      failed,
    });
    this.#spent = new Source("spending", () => readSpending(read, lanes, now() - SPENDING_PERIOD), {
      fresh: FRESH.spent,
      logger,
      failed,
    });
  }

  /** What the processes say that send and follow requests; null while the database cannot be read. */
  reasons(): Promise<PipelineReasons | null> {
    return this.#reasons.value();
  }

  /** The state of the whole service; null while the database cannot be read. */
  async read() {
    const [stored, chain, spent] = await Promise.all([this.#stored.value(), this.#chain.value(), this.#spent.value()]);
    if (stored === null) return null;
    const lanes = stored.lanes.map((one) => {
      const funds = chain?.balances.find(({ lane }) => lane === one.lane);
      const [balance, cost] = [funds?.wei ?? null, spent?.get(one.lane) ?? null];
      return {
        ...one,
        inUse: this.#lanes.includes(one.lane),
        balance,
        lowFunds: funds?.low ?? null,
        advised: funds?.advised ?? null,
        spent: cost,
        daysLeft: balance === null || cost === null ? null : daysLeft(balance, cost),
      };
    });
    return {
      ...stored,
      lanes,
      head: chain?.head ?? null,
      relayPaused: chain?.relayPaused ?? null,
      feesTooHigh: chain?.feesTooHigh ?? null,
      nodes: this.#nodes.states(),
    };
  }
}

async function readStored(read: Db, now: number, presence: number) {
  const count = (role: SharedRole) => countProcesses(read, role, { now, lasts: presence, within: presence });
  return {
    ...(await readPipeline(read, now)),
    deliveries: await countDeliveries(read),
    processes: { api: await count("api"), relayer: await count("relayer"), other: await count("other") },
  };
}

async function readSpending(read: Db, lanes: readonly number[], since: number): Promise<ReadonlyMap<number, bigint>> {
  const spent = new Map<number, bigint>();
  for (const lane of lanes) spent.set(lane, await spentSince(read, lane, since));
  return spent;
}
