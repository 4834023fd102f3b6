import { setTimeout as wait } from "node:timers/promises";

import type { Records } from "../scene/records.ts";

/** Milliseconds within which webhooks must arrive once the faults are over. */
const TIMEOUT = 120_000;

/** Movements of which an app must have an event, each once for each app: those of its collections, and of its wallets. */
const WANTED = `
  select app_id, contract, token_id, block_number, log_index, sub_index from (
    select collections.app_id, transfers.* from transfers join collections on collections.address = transfers.contract
    union
    select wallets.app_id, transfers.* from transfers
      join wallet_history on wallet_history.transfer_id = transfers.id
      join wallets on wallets.address = wallet_history.wallet) as moved
   where block_number <= (select cast(value as integer) from meta where key = 'confirmed_block')
   order by block_number, log_index, sub_index`;

/** Events of tokens that are not corrected, in the order of the feed. */
const MADE = `
  select id, app_id, body from events
   where type like 'token.%' and corrects is null and block_number is not null order by position`;

interface Movement {
  app_id: string;
  contract: string;
  token_id: string;
  block_number: number;
  log_index: number;
  sub_index: number;
}

interface TokenBody {
  contract_address: string;
  token_id: number | string;
  block_number: number;
  log_index: number;
  batch_index: number;
}

/** @returns a sentence for each difference between the events of tokens and the movements in final blocks. */
export async function wrongTokenEvents(records: Records): Promise<string[]> {
  const wanted = (await records.all<Movement>(WANTED)).map((move) => ({
    key: [move.app_id, move.block_number, move.log_index, move.sub_index].join("/"),
    token: [move.app_id, move.contract, move.token_id].join("/"),
  }));
  const made = (await records.all<{ app_id: string; body: string }>(MADE)).map(({ app_id: app, body }) => {
    const event = JSON.parse(body) as TokenBody;
    return {
      key: [app, event.block_number, event.log_index, event.batch_index].join("/"),
      token: [app, event.contract_address, event.token_id].join("/"),
    };
  });
  const problems: string[] = [];
  const [due, got] = [new Set(wanted.map(({ key }) => key)), new Set(made.map(({ key }) => key))];
  if (got.size < made.length)
    problems.push(`${(made.length - got.size).toString()} movements have more than one event`);
  for (const [count, what] of [
    [notIn(got, due), "movements in final blocks have no event"],
    [notIn(due, got), "events of tokens have no movement"],
  ] as const)
    if (count > 0) problems.push(`${count.toString()} ${what}`);
  // Of one token the feed has the order of the chain.
  const inFeed = Map.groupBy(made, ({ token }) => token);
  for (const [token, moves] of Map.groupBy(wanted, (move) => move.token)) {
    const order = (moved: readonly { key: string }[]) => moved.map(({ key }) => key).join(" ");
    if (order(inFeed.get(token) ?? []) !== order(moves))
      problems.push(`the events of token ${token} have another order`);
  }
  const { n: dangling } = await records.one<{ n: number }>(
    `select count(*) n from events where corrects is not null and not exists (
       select 1 from events as before where before.id = events.corrects and before.block_number is null)`,
  );
  if (dangling > 0) problems.push(`${dangling.toString()} corrections correct nothing`);
  return problems.slice(0, 20);
}

/** How many of `keys` are not in `others`. */
function notIn(others: ReadonlySet<string>, keys: ReadonlySet<string>): number {
  return [...keys].filter((key) => !others.has(key)).length;
}

interface SentEvent {
  id: string;
  body: string;
}

/** Events that arrived at a webhook for events of tokens. */
export class TokenArrivals {
  /** Ids, in the order in which they came first. */
  readonly #ids = new Set<string>();
  /** How many of them are corrections. */
  corrected = 0;

  /** How many events arrived; one that came repeatedly counts once. */
  get count(): number {
    return this.#ids.size;
  }

  add({ id, type }: { id: string; type: string }): void {
    if (type === "corrected" && !this.#ids.has(id)) this.corrected += 1;
    this.#ids.add(id);
  }

  /** Waits until all have arrived. @returns a sentence for each that has not, and for each token whose events came in another order. */
  async differences(records: Records, appId: string): Promise<string[]> {
    const deadline = performance.now() + TIMEOUT;
    for (;;) {
      const sent = await sentEvents(records, appId);
      const missing = sent.filter(({ id }) => !this.#ids.has(id));
      if (missing.length === 0) return this.#disordered(sent);
      if (performance.now() > deadline) return [`${missing.length.toString()} events of tokens did not arrive`];
      await wait(250);
    }
  }

  /** Of a webhook that has not got all yet. @returns a sentence for each token of which it got others than the first events, in order. */
  async disordered(records: Records, appId: string): Promise<string[]> {
    return this.#disordered(await sentEvents(records, appId));
  }

  #disordered(sent: readonly SentEvent[]): string[] {
    const places = new Map([...this.#ids].map((id, place) => [id, place]));
    const tokens = Map.groupBy(sent, ({ body }) => {
      const { contract_address: contract, token_id: token } = JSON.parse(body) as TokenBody;
      return `${contract}/${token.toString()}`;
    });
    const problems = [...tokens].flatMap(([token, events]) => {
      // One that has not arrived is behind all that have.
      const order = events.map(({ id }) => places.get(id) ?? Infinity);
      const inOrder = order.every((place, index) => index === 0 || place >= (order[index - 1] ?? 0));
      return inOrder ? [] : [`the events of token ${token} arrived in another order than that of the chain`];
    });
    return problems.slice(0, 20);
  }
}

/** Events of tokens and their corrections, in the order of the feed. */
function sentEvents(records: Records, appId: string): Promise<SentEvent[]> {
  return records.all<SentEvent>(
    "select id, body from events where type like 'token.%' and app_id = ? order by position",
    appId,
  );
}
