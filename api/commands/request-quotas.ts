import { BACKLOG_RESERVE } from "../config/limits.ts";
import { type Quotas, storedBytesOf, type UsedQuota } from "../domain/quota.ts";
import { type CountedQuota, lockQuotas, readCounted } from "../store/apps/quotas.ts";
import { findWallets } from "../store/apps/wallets.ts";
import { counterKeys, readCounters } from "../store/db/counters.ts";
import type { Trx } from "../store/db/sql.ts";
import type { Candidate } from "./accept-group.ts";
import type { NewWallet } from "./create-wallet.ts";

export interface BacklogLimits {
  /** Most requests of all apps that are not final, without those that wait for content. */
  backlog: number;
  /** Most requests of one app that wait for content. */
  mediaBacklog: number;
}

/** Why the backlog takes no further request of an app. */
export type BacklogRefusal = "backlog_full" | "backlog_share_used" | "media_backlog_full";

/**
 * Shares the backlog between the apps, for a group of calls. While more than the reserve is free, any app may use it. After
 * that it is short: an app is refused while it has at least as many requests as places are left. So an app that filled the
 * backlog is refused first, and the others still find room.
 */
export class Backlog {
  readonly #limits: BacklogLimits;
  readonly #counts: Map<string, number>;

  private constructor(limits: BacklogLimits, counts: Map<string, number>) {
    this.#limits = limits;
    this.#counts = counts;
  }

  /** Reads what is waiting now. One statement, however many apps there are. */
  static async read(trx: Trx, apps: ReadonlySet<string>, limits: BacklogLimits): Promise<Backlog> {
    const ofApps = [...apps].flatMap((app) => [counterKeys.backlogOfApp(app), counterKeys.mediaBacklog(app)]);
    return new Backlog(limits, await readCounters(trx, [counterKeys.backlog(), ...ofApps]));
  }

  /** @returns null when one more request of the app has room. */
  refusalOf(app: string, waitsForMedia: boolean): BacklogRefusal | null {
    if (waitsForMedia)
      return this.#count(counterKeys.mediaBacklog(app)) < this.#limits.mediaBacklog ? null : "media_backlog_full";
    const { backlog: limit } = this.#limits;
    const free = limit - this.#count(counterKeys.backlog());
    if (free <= 0) return "backlog_full";
    if (free > Math.ceil(limit * BACKLOG_RESERVE)) return null;
    return this.#count(counterKeys.backlogOfApp(app)) < free ? null : "backlog_share_used";
  }

  /** Counts an accepted request. */
  add(app: string, waitsForMedia: boolean): void {
    const keys = waitsForMedia
      ? [counterKeys.mediaBacklog(app)]
      : [counterKeys.backlog(), counterKeys.backlogOfApp(app)];
    for (const key of keys) this.#counts.set(key, this.#count(key) + 1);
  }

  #count(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
}

/** What is compared with the quotas of its app. */
interface QuotaItem {
  appId: string;
  newWallet?: NewWallet | undefined;
}

/** What an item takes of a quota. */
interface Claim {
  name: CountedQuota;
  /** The room that it needs now. */
  needs: number;
  /** What it counts once it is accepted. The size of its media is known only when they are copied. */
  counts: number;
}

export function claimsOfRequest({ type, waitsForMedia, command, unlockable, newWallet }: Candidate): Claim[] {
  const claims: Claim[] = [];
  const claim = (name: CountedQuota, needs: number, counts = needs) => claims.push({ name, needs, counts });
  if (waitsForMedia) claim("media_requests", 1);
  // A freeze stores metadata, which does not count. The media worker compares the files with the quota when it has copied them.
  if (waitsForMedia && command.kind !== "freeze-metadata") claim("media_bytes", 1, 0);
  if (type === "collection") claim("collections", 1);
  if (type === "mint") claim("mints", 1);
  const bytes = storedBytesOf(command, unlockable);
  if (bytes > 0) claim("stored_bytes", bytes);
  return newWallet === undefined ? claims : [...claims, ...WALLET_CLAIMS];
}

export const WALLET_CLAIMS: readonly Claim[] = [{ name: "wallets", needs: 1, counts: 1 }];

interface LimitedApp {
  limits: Quotas;
  /** With what the calls of the group have taken. */
  used: Record<CountedQuota, number>;
}

/** The quotas for requests and wallets, for a group of calls. Apps without such quotas cost no statement and no lock. */
export class RequestQuotas {
  readonly #apps: ReadonlyMap<string, LimitedApp>;
  readonly #claims: ReadonlyMap<QuotaItem, readonly Claim[]>;
  /** Addresses of wallets that are stored, or were accepted with an earlier item of the group. They need no room. */
  readonly #wallets: Set<string>;

  private constructor(
    apps: ReadonlyMap<string, LimitedApp>,
    claims: ReadonlyMap<QuotaItem, readonly Claim[]>,
    wallets = new Set<string>(),
  ) {
    this.#apps = apps;
    this.#claims = claims;
    this.#wallets = wallets;
  }

  /** @param held the apps that exist. Call it before any other row is locked: see `sql.ts`. */
  static async read<Item extends QuotaItem>(
    trx: Trx,
    items: readonly Item[],
    held: ReadonlyMap<string, Quotas>,
    claimsOf: (item: Item) => readonly Claim[],
  ): Promise<RequestQuotas> {
    const claims = new Map<QuotaItem, readonly Claim[]>();
    const limited = new Set<string>();
    for (const item of items) {
      const quotas = held.get(item.appId);
      if (quotas === undefined || Object.values(quotas).every((limit) => limit === null)) continue;
      const all = claimsOf(item);
      claims.set(item, all);
      if (all.some(({ name }) => quotas[name] !== null)) limited.add(item.appId);
    }
    const apps = new Map<string, LimitedApp>();
    if (limited.size === 0) return new RequestQuotas(apps, claims);
    const quotas = await lockQuotas(trx, limited);
    for (const [app, used] of await readCounted(trx, quotas.keys())) {
      const limits = quotas.get(app);
      if (limits !== undefined) apps.set(app, { limits, used });
    }
    const wallets = items.flatMap(({ appId, newWallet }) =>
      newWallet === undefined || (apps.get(appId)?.limits.wallets ?? null) === null ? [] : newWallet,
    );
    // Another call may have created them since this one was checked.
    const stored = wallets.length === 0 ? [] : await findWallets(trx, wallets);
    return new RequestQuotas(apps, claims, new Set(stored.flatMap((wallet) => wallet?.address ?? [])));
  }

  /** @returns null when the item has room. */
  refusalOf(item: QuotaItem): UsedQuota | null {
    const app = this.#apps.get(item.appId);
    for (const { name, needs } of this.#claimsOf(item)) {
      const limit = app?.limits[name] ?? null;
      if (app !== undefined && limit !== null && app.used[name] + needs > limit) return { name, limit };
    }
    return null;
  }

  /** Counts an item that was accepted. */
  add(item: QuotaItem): void {
    const app = this.#apps.get(item.appId);
    if (app === undefined) return;
    for (const { name, counts } of this.#claimsOf(item)) app.used[name] += counts;
    if (item.newWallet !== undefined) this.#wallets.add(item.newWallet.address);
  }

  #claimsOf(item: QuotaItem): readonly Claim[] {
    const claims = this.#claims.get(item) ?? [];
    const exists = item.newWallet !== undefined && this.#wallets.has(item.newWallet.address);
    return exists ? claims.filter(({ name }) => name !== "wallets") : claims;
  }
}
