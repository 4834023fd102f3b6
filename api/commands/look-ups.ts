import { nextTick } from "node:process";

import { findApiTokensByHash } from "../store/apps/api-tokens.ts";
import { answerKey, findStoredAnswers } from "../store/apps/idempotency.ts";
import { findWallets, findWalletsOfUsers } from "../store/apps/wallets.ts";
import { DatabaseUnavailable } from "../store/db/errors.ts";
import type { Db } from "../store/db/sql.ts";
import { findCollectionsOfApps } from "../store/listings/collections.ts";
import { findTransferSources } from "../store/listings/transfer-source.ts";
import { findRequests } from "../store/requests/requests.ts";

/** Reads that almost every call makes. Each takes what a call looks for, and answers in that order; undefined: not found. */
export type LookUps = ReturnType<typeof createLookUps>;

/**
 * Calls that arrive together share a statement. Nothing is cached: each statement runs after its calls have arrived and sees
 * every earlier commit, so a revoked token stops working at once. Create one per process and database.
 */
export function createLookUps(db: Db) {
  // Calls whose tokens were looked up together continue together, so no further turn is needed to gather them.
  const read = <In, Out>(find: (db: Db, items: readonly In[]) => Promise<Out[]>) =>
    together((items: readonly In[]) => find(db, items), nextTick);
  return {
    /** By the SHA-256 of the tokens, hex. */
    tokens: together((hashes: readonly string[]) => findApiTokensByHash(db, hashes)),
    /** The answers that are stored under idempotency keys. */
    answers: read(async (_db, keys: readonly { appId: string; key: string }[]) => {
      const found = await findStoredAnswers(db, keys);
      return keys.map(({ appId, key }) => found.get(answerKey(appId, key)));
    }),
    wallets: read(findWallets),
    walletsOfUsers: read(findWalletsOfUsers),
    collections: read(findCollectionsOfApps),
    requests: read(findRequests),
    transferSources: read(findTransferSources),
  };
}

/** A group that has this many items takes no further call. It limits how long the first one waits. */
const MAX_ITEMS = 500;

interface Waiting<In, Out> {
  items: readonly In[];
  resolve: (results: Out[]) => void;
  reject: (error: unknown) => void;
}

/**
 * Handles what is asked in one turn of the event loop together, and also what is asked while an earlier group is handled.
 * @param handle one result for each item, in their order.
 * @param begin `nextTick` gathers only what continues together after another group.
 */
export function together<In, Out>(
  handle: (items: readonly In[]) => Promise<Out[]>,
  begin: (handleAll: () => void) => void = setImmediate,
): (items: readonly In[]) => Promise<Out[]> {
  const waiting: Waiting<In, Out>[] = [];
  let isRunning = false;

  async function run(group: readonly Waiting<In, Out>[]): Promise<void> {
    try {
      const results = await handle(group.flatMap(({ items }) => items));
      let taken = 0;
      for (const { items, resolve } of group) resolve(results.slice(taken, (taken += items.length)));
    } catch (error) {
      // While the database is unavailable, the group fails together: alone, each would wait for it again, and a commit whose
      // answer was lost must not run a second time. Any other error concerns one of them, and must not fail the others.
      if (group.length === 1 || error instanceof DatabaseUnavailable) for (const { reject } of group) reject(error);
      else for (const member of group) await run([member]);
    }
  }

  function takeGroup(): Waiting<In, Out>[] {
    let count = 0;
    const last = waiting.findIndex(({ items }) => (count += items.length) >= MAX_ITEMS);
    return waiting.splice(0, last === -1 ? waiting.length : last + 1);
  }

  async function runAll(): Promise<void> {
    while (waiting.length > 0) await run(takeGroup());
    isRunning = false;
  }

  return (items) => {
    if (items.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      waiting.push({ items, resolve, reject });
      if (isRunning) return;
      isRunning = true;
      begin(() => void runAll());
    });
  };
}
