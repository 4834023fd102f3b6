import { setTimeout as wait } from "node:timers/promises";

import type { KnownTokens } from "./calls.ts";
import { compareSettled, compareWithChain } from "./compare-chain.ts";
import { completedOf, countFinalEvents, countOutcomes, findLeftovers } from "./compare-database.ts";
import { wrongTokenEvents } from "./compare-events.ts";
import type { Accepted } from "./load.ts";
import { type Records, withRecords } from "../scene/records.ts";
import type { World } from "./world.ts";

/** What one round found. */
export interface RoundResult {
  requests: number;
  completed: number;
  failed: number;
  /** Accepted requests that the service does not know, or that lack the effect that their status claims. */
  lost: number;
  /** Effects on chain that no completed request accounts for, and requests with more than one final event. */
  duplicated: number;
  /** Completed requests whose transaction is not in the stored block on the chain, or did not make the token that they name. */
  wrong: number;
  /** Requests that were not final in time. */
  stuck: number;
  /** Any other broken invariant, one sentence each. */
  other: string[];
}

export function nothingFound(): RoundResult {
  return { requests: 0, completed: 0, failed: 0, lost: 0, duplicated: 0, wrong: 0, stuck: 0, other: [] };
}

export function isClean({ lost, duplicated, wrong, stuck, other }: RoundResult): boolean {
  return lost + duplicated + wrong + stuck + other.length === 0;
}

/** Milliseconds within which accepted requests must become final once the fault is over. */
const SETTLE_TIMEOUT = 120_000;

const OPEN_REQUESTS = "select count(*) n from requests where status in ('pending', 'processing')";
const OPEN_BATCHES = "select count(*) n from batches where status = 'open'";

/** Compares three records of what the load did: the accepted calls, the database and the chain. */
export class Checker {
  readonly #world: World;
  /** Every request that was accepted in this world. */
  readonly #accepted = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Waits until every request is final, then compares. */
  async check(accepted: Accepted[]): Promise<RoundResult> {
    for (const { id } of accepted) this.#accepted.add(id);
    return this.#read(async (records) => {
      const stuck = await this.#settle(records);
      const result: RoundResult = { ...nothingFound(), requests: accepted.length, stuck };
      await countOutcomes(records, accepted, result);
      // While requests are open, the sides differ for good reason.
      if (result.stuck === 0) {
        await findLeftovers(records, result);
        await compareWithChain(this.#world, records, result);
        await compareSettled(this.#world, await completedOf(records, accepted), result);
        await countFinalEvents(records, accepted, result);
      }
      return result;
    });
  }

  #read<T>(work: (records: Records) => Promise<T>): Promise<T> {
    return withRecords(this.#world.service.records(), work);
  }

  /**
   * Waits until all requests in the database are final, and mines blocks for them. It includes requests whose answer the
   * load never received, because the process may have died between its commit and its answer.
   * @returns how many are still open after the timeout.
   */
  async #settle(records: Records): Promise<number> {
    const count = (query: string) => records.one<{ n: number }>(query).then(({ n }) => n);
    const deadline = performance.now() + SETTLE_TIMEOUT;
    for (;;) {
      // After a reorganization a batch can be open again although its requests are final.
      const open = Math.max(await count(OPEN_REQUESTS), await count(OPEN_BATCHES));
      const head = await this.#world.node.provider.getBlock("latest");
      // A reorganization can keep the head's number: compare the hash.
      const [newest] = await records.all<{ hash: string }>("select hash from blocks order by number desc limit 1");
      const indexed = newest?.hash === head?.hash;
      if (open === 0 && indexed) return 0;
      if (performance.now() > deadline) return Math.max(open, 1);
      if (open > 0) await this.#world.mine();
      await wait(60);
    }
  }

  /** At the end of a world. @returns a sentence for each thing that webhooks and the event stream have wrong. */
  async wrongAtTheEnd(): Promise<string[]> {
    return [...(await this.#missingWebhooks()), ...(await this.#wrongStream()), ...(await this.#wrongTokens())];
  }

  /**
   * Waits until every final event has reached the webhook receiver.
   * @returns a sentence for each request that did not have exactly one final event.
   */
  async #missingWebhooks(): Promise<string[]> {
    const { finals } = this.#world.webhooks;
    const deadline = performance.now() + SETTLE_TIMEOUT;
    const missing = () => [...this.#accepted].filter((id) => finals.get(id)?.size !== 1);
    while (missing().length > 0 && performance.now() < deadline) await wait(250);
    return missing().map((id) => `request ${id} has ${String(finals.get(id)?.size ?? 0)} final webhooks, not 1`);
  }

  /** Whether the event stream showed every event once and in order. @returns a sentence if not. */
  async #wrongStream(): Promise<string[]> {
    return this.#read(async (records) => (await this.#world.follower?.differences(records)) ?? []);
  }

  /** Whether each movement has its event, once and in order, also at the webhook for them. */
  async #wrongTokens(): Promise<string[]> {
    const { webhooks, app } = this.#world;
    return this.#read(async (records) => [
      ...(await wrongTokenEvents(records)),
      ...(await webhooks.tokens.differences(records, app.appId)),
      ...(await webhooks.slow.disordered(records, app.appId)),
    ]);
  }

  async knownTokens(): Promise<KnownTokens> {
    const { erc721, erc1155 } = this.#world;
    return this.#read(async (records) => {
      const owners = await records.all<{ token_id: string; owner: string }>(
        "select token_id, owner from holdings where contract = ? order by seq desc limit 300",
        erc721,
      );
      const created = await records.all<{ token_id: string }>(
        "select token_id from nfts where contract = ? and minted_block is not null",
        erc1155,
      );
      return {
        owners: owners.map((row) => [row.token_id, row.owner]),
        created: created.map((row) => row.token_id),
      };
    });
  }
}
