import { nextTick } from "node:process";

import type { Gather } from "../shared/gather.ts";
import { findApiTokensByHash, type StoredToken } from "../store/apps/api-tokens.ts";
import { answerKey, findStoredAnswers, type StoredAnswer } from "../store/apps/idempotency.ts";
import { findWallets } from "../store/apps/wallets.ts";
import type { Db } from "../store/db/engine.ts";
import type { WalletRow } from "../store/db/schema.ts";
import { findCollectionsOfApps, type StoredCollection } from "../store/listings/collections.ts";
import { confirmedBlock } from "../store/listings/nfts.ts";
import { findTransferSources, type TransferPlaces, type TransferSource } from "../store/listings/transfer-source.ts";
import { findRequests } from "../store/requests/requests.ts";
import type { StoredRequest } from "../store/requests/stored-request.ts";
import { gatherCalls } from "./gather-calls.ts";

interface OfApp {
  appId: string;
  address: string;
}

/**
 * Reads that almost every call makes. Calls that arrive together share one statement. Nothing is cached: each statement
 * runs after its calls have arrived and sees every earlier commit, so a revoked token stops working at once. Create one
 * per process and database.
 */
export class LookUps {
  readonly #tokens: Gather<string, StoredToken | undefined>;
  readonly #answers: Gather<{ appId: string; key: string }, StoredAnswer | undefined>;
  readonly #wallets: Gather<OfApp, WalletRow | undefined>;
  readonly #collections: Gather<OfApp, StoredCollection | undefined>;
  readonly #requests: Gather<{ appId: string; id: string }, StoredRequest | undefined>;
  readonly #confirmedBlocks: Gather<null, number>;
  readonly #transferSources: Gather<TransferPlaces, TransferSource>;

  constructor(db: Db) {
    this.#tokens = gatherCalls((hashes) => findApiTokensByHash(db, hashes));
    // Calls that were looked up together by token also continue together.
    this.#answers = gatherCalls(async (calls) => {
      const found = await findStoredAnswers(db, calls);
      return calls.map(({ appId, key }) => found.get(answerKey(appId, key)));
    }, nextTick);
    this.#wallets = gatherCalls((calls) => findWallets(db, calls), nextTick);
    this.#collections = gatherCalls((calls) => findCollectionsOfApps(db, calls), nextTick);
    this.#requests = gatherCalls((calls) => findRequests(db, calls), nextTick);
    this.#confirmedBlocks = gatherCalls(async (calls) => {
      const block = await confirmedBlock(db);
      return calls.map(() => block);
    }, nextTick);
    this.#transferSources = gatherCalls((transfers) => findTransferSources(db, transfers), nextTick);
  }

  /** @param hash SHA-256 of the token, hex. */
  token(hash: string): Promise<StoredToken | undefined> {
    return this.#tokens.add(hash);
  }

  /** The answer that is stored under an idempotency key of the app. */
  answer(appId: string, key: string): Promise<StoredAnswer | undefined> {
    return this.#answers.add({ appId, key });
  }

  /** @returns undefined when there is no such wallet, or it belongs to another app. */
  wallet(appId: string, address: string): Promise<WalletRow | undefined> {
    return this.#wallets.add({ appId, address });
  }

  /** @returns undefined when the collection is not created yet, or belongs to another app. */
  collection(appId: string, address: string): Promise<StoredCollection | undefined> {
    return this.#collections.add({ appId, address });
  }

  /** @returns undefined when there is no such request, or it belongs to another app. */
  request(appId: string, id: string): Promise<StoredRequest | undefined> {
    return this.#requests.add({ appId, id });
  }

  /** Newest block that is deep enough to be final; -1 when there is none. */
  confirmedBlock(): Promise<number> {
    return this.#confirmedBlocks.add(null);
  }

  transferSource(places: TransferPlaces): Promise<TransferSource> {
    return this.#transferSources.add(places);
  }
}
