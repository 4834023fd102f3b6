import { nextTick } from "node:process";

import { Gather } from "../shared/gather.ts";
import { findApiTokensByHash, type StoredToken } from "../store/apps/api-tokens.ts";
import { findAppsById } from "../store/apps/apps.ts";
import { findConsoleSessionsByHash, type StoredConsoleSession } from "../store/apps/console-sessions.ts";
import { answerKey, findStoredAnswers, type StoredAnswer } from "../store/apps/idempotency.ts";
import { findWallets, findWalletsOfUsers } from "../store/apps/wallets.ts";
import { DatabaseUnavailable } from "../store/db/errors.ts";
import type { AppRow, WalletRow } from "../store/db/schema.ts";
import type { Db } from "../store/db/sql.ts";
import { findCollectionsOfApps, type StoredCollection } from "../store/listings/collections.ts";
import { findTransferSources, type TransferPlaces, type TransferSource } from "../store/listings/transfer-source.ts";
import { newestPositions } from "../store/outbox/feed.ts";
import { findRequests, type ListedRequest } from "../store/requests/requests.ts";
import { type Credential, validCredentials } from "./credential.ts";

interface OfApp {
  appId: string;
  address: string;
}

/** A user of an app. */
interface AppUser {
  appId: string;
  userIdentifier: string;
}

/**
 * Reads that almost every call makes. Calls that arrive together share one statement. Nothing is cached: each statement
 * runs after its calls have arrived and sees every earlier commit, so a revoked token stops working at once. Create one
 * per process and database.
 */
export class LookUps {
  readonly #db: Db;
  readonly #tokens: Gather<string, StoredToken | undefined>;
  readonly #sessions: Gather<string, StoredConsoleSession | undefined>;
  readonly #valid: Gather<Credential, boolean>;
  /** Whether credentials are valid, by their hashes: what was asked in this turn of the event loop. */
  readonly #asked = new Map<string, Promise<boolean>>();
  readonly #apps: Gather<string, AppRow | undefined>;
  readonly #answers: Gather<{ appId: string; key: string }, StoredAnswer | undefined>;
  readonly #wallets: Gather<OfApp, WalletRow | undefined>;
  readonly #walletsOfUsers: Gather<AppUser, WalletRow | undefined>;
  readonly #collections: Gather<OfApp, StoredCollection | undefined>;
  readonly #requests: Gather<{ appId: string; id: string }, ListedRequest | undefined>;
  readonly #transferSources: Gather<TransferPlaces, TransferSource>;
  readonly #newestEvents: Gather<string, number>;

  constructor(db: Db) {
    this.#db = db;
    this.#tokens = gatherCalls((hashes) => findApiTokensByHash(db, hashes));
    this.#sessions = gatherCalls((hashes) => findConsoleSessionsByHash(db, hashes));
    this.#valid = gatherCalls(async (credentials) => {
      const valid = await validCredentials(db, credentials, Date.now());
      return credentials.map(({ hash }) => valid.has(hash));
    }, nextTick);
    this.#apps = gatherCalls((ids) => findAppsById(db, ids), nextTick);
    // `nextTick`: calls whose tokens were looked up together continue together, so no further turn is needed to gather them.
    this.#answers = gatherCalls(async (calls) => {
      const found = await findStoredAnswers(db, calls);
      return calls.map(({ appId, key }) => found.get(answerKey(appId, key)));
    }, nextTick);
    this.#wallets = gatherCalls((calls) => findWallets(db, calls), nextTick);
    this.#walletsOfUsers = gatherCalls((calls) => findWalletsOfUsers(db, calls), nextTick);
    this.#collections = gatherCalls((calls) => findCollectionsOfApps(db, calls), nextTick);
    this.#requests = gatherCalls((calls) => findRequests(db, calls), nextTick);
    this.#transferSources = gatherCalls((transfers) => findTransferSources(db, transfers), nextTick);
    this.#newestEvents = gatherCalls((appIds) => newestPositions(db, appIds), nextTick);
  }

  /** @param hash SHA-256 of the token, hex. */
  token(hash: string): Promise<StoredToken | undefined> {
    return this.#tokens.add(hash);
  }

  /** @param hash SHA-256 of the session's secret, hex. */
  session(hash: string): Promise<StoredConsoleSession | undefined> {
    return this.#sessions.add(hash);
  }

  /** Whether a token or session is still valid. Calls that begin in the same turn of the event loop share the answer. */
  isValid(credential: Credential): Promise<boolean> {
    const asked = this.#asked.get(credential.hash);
    if (asked !== undefined) return asked;
    if (this.#asked.size === 0) {
      setImmediate(() => {
        this.#asked.clear();
      });
    }
    const answer = this.#valid.add(credential);
    this.#asked.set(credential.hash, answer);
    return answer;
  }

  app(id: string): Promise<AppRow | undefined> {
    return this.#apps.add(id);
  }

  /** The answer that is stored under an idempotency key of the app. */
  answer(appId: string, key: string): Promise<StoredAnswer | undefined> {
    return this.#answers.add({ appId, key });
  }

  /** @returns undefined when there is no such wallet, or it belongs to another app. */
  wallet(appId: string, address: string): Promise<WalletRow | undefined> {
    return this.#wallets.add({ appId, address });
  }

  /** The app's wallets at these addresses, in their order; undefined as in `wallet`. One statement, however many there are. */
  wallets(appId: string, addresses: readonly string[]): Promise<(WalletRow | undefined)[]> {
    const calls = addresses.map((address) => ({ appId, address }));
    return together(this.#wallets, (all) => findWallets(this.#db, all), calls);
  }

  /** The wallets of users, in their order; undefined for a user without one. One statement, however many there are. */
  walletsOfUsers(users: readonly AppUser[]): Promise<(WalletRow | undefined)[]> {
    return together(this.#walletsOfUsers, (all) => findWalletsOfUsers(this.#db, all), users);
  }

  /** @returns undefined when the collection is not created yet, or belongs to another app. */
  collection(appId: string, address: string): Promise<StoredCollection | undefined> {
    return this.#collections.add({ appId, address });
  }

  /**
   * The app's collections, by address. Those that are not created yet, or belong to another app, are left out. One statement,
   * however many addresses there are.
   */
  async collections(appId: string, addresses: ReadonlySet<string>): Promise<Map<string, StoredCollection>> {
    const calls = [...addresses].map((address) => ({ appId, address }));
    const found = await together(this.#collections, (all) => findCollectionsOfApps(this.#db, all), calls);
    return new Map(found.flatMap((collection) => (collection === undefined ? [] : [[collection.address, collection]])));
  }

  /** @returns undefined when there is no such request, or it belongs to another app. */
  request(appId: string, id: string): Promise<ListedRequest | undefined> {
    return this.#requests.add({ appId, id });
  }

  /** Position of the newest event in the app's feed; 0 when there is none. */
  newestEvent(appId: string): Promise<number> {
    return this.#newestEvents.add(appId);
  }

  /** The sources of transfers, in their order. One statement, however many there are. */
  transferSources(transfers: readonly TransferPlaces[]): Promise<TransferSource[]> {
    return together(this.#transferSources, (all) => findTransferSources(this.#db, all), transfers);
  }
}

/** A single item joins those of other calls. Several are a group already. */
async function together<In, Out>(
  gather: Gather<In, Out>,
  find: (items: readonly In[]) => Promise<Out[]>,
  items: readonly In[],
): Promise<Out[]> {
  const [first] = items;
  if (first === undefined) return [];
  return items.length === 1 ? [await gather.add(first)] : find(items);
}

/**
 * Gathers calls that use the database together. While the database is unavailable, the calls of a group fail together:
 * alone, each would wait for it again, and a commit whose answer was lost must not run a second time.
 */
export function gatherCalls<In, Out>(
  handle: (calls: In[]) => Promise<Out[]>,
  start?: (drain: () => void) => void,
): Gather<In, Out> {
  return new Gather(handle, start, (error) => error instanceof DatabaseUnavailable);
}
