import { ApiError } from "../domain/error-codes.ts";
import { quotaMessage, type QuotaName, type Quotas, storedBytesOf, type UsedQuota } from "../domain/quota.ts";
import { countLiveTokens } from "../store/apps/api-tokens.ts";
import { holdApps } from "../store/apps/apps.ts";
import { lockQuotas, readCounted } from "../store/apps/quotas.ts";
import { findWallets } from "../store/apps/wallets.ts";
import type { Trx } from "../store/db/sql.ts";
import type { NewRequest } from "../store/requests/requests.ts";
import type { NewWallet } from "./create-wallet.ts";

/** How much of each quota something needs. */
type Needs = Partial<Record<QuotaName, number>>;

/** What is compared with the quotas of its app. */
interface Needing {
  appId: string;
  needs: Needs;
  /** It needs no room if the wallet exists already. */
  newWallet?: NewWallet | undefined;
}

/**
 * The quotas of apps, for a group of changes in one transaction. An app is locked if one of its quotas is needed, so that one
 * call at a time is compared with it. Apps without such quotas cost no statement and no lock.
 */
export class AppQuotas {
  readonly #apps: ReadonlyMap<string, LimitedApp>;
  /** Addresses of wallets that are stored, or were accepted with an earlier item of the group. */
  readonly #wallets: Set<string>;

  private constructor(apps: ReadonlyMap<string, LimitedApp>, wallets: Set<string>) {
    this.#apps = apps;
    this.#wallets = wallets;
  }

  /** @param held the apps that exist (`holdApps`). Call it before any other row is locked: see `sql.ts`. */
  static async lock(trx: Trx, held: ReadonlyMap<string, Quotas>, items: readonly Needing[]): Promise<AppQuotas> {
    const limited = items.filter(({ appId, needs }) => quotasIn(needs).some((name) => held.get(appId)?.[name] != null));
    const apps = new Map<string, LimitedApp>();
    if (limited.length === 0) return new AppQuotas(apps, new Set());
    const quotas = await lockQuotas(trx, new Set(limited.map(({ appId }) => appId)));
    const counted = await readCounted(trx, quotas.keys());
    const tokens = limited.some(({ needs }) => needs.api_tokens !== undefined)
      ? await countLiveTokens(trx, [...quotas.keys()], Date.now())
      : new Map<string, number>();
    for (const [app, limits] of quotas) {
      apps.set(app, { limits, used: { ...counted.get(app), api_tokens: tokens.get(app) ?? 0 } });
    }
    const wallets = limited.flatMap(({ appId, newWallet }) =>
      newWallet === undefined || (apps.get(appId)?.limits.wallets ?? null) === null ? [] : newWallet,
    );
    // Another call may have created them since this one was checked.
    const stored = wallets.length === 0 ? [] : await findWallets(trx, wallets);
    return new AppQuotas(apps, new Set(stored.flatMap((wallet) => wallet?.address ?? [])));
  }

  /** For a change of one app that is not a request. */
  static async lockOne(trx: Trx, appId: string, name: QuotaName): Promise<AppQuotas> {
    return AppQuotas.lock(trx, await holdApps(trx, [appId]), [{ appId, needs: { [name]: 1 } }]);
  }

  /** @returns null when there is room. What needs no more room always fits. */
  refusalOf(item: Needing): ApiError | null {
    const app = this.#apps.get(item.appId);
    if (app === undefined) return null;
    for (const name of this.#neededBy(item)) {
      const [needs, used, limit] = [item.needs[name] ?? 0, app.used[name] ?? 0, app.limits[name]];
      if (limit !== null && needs > 0 && used + needs > limit) return overQuota({ name, limit });
    }
    return null;
  }

  /** @throws ApiError `quota_exceeded` when there is no room */
  require(appId: string, needs: Needs): void {
    const refusal = this.refusalOf({ appId, needs });
    if (refusal !== null) throw refusal;
  }

  /** Counts what was accepted. The size of media is known only when they are copied. */
  add(item: Needing): void {
    const app = this.#apps.get(item.appId);
    if (app === undefined) return;
    for (const name of this.#neededBy(item)) {
      if (name !== "media_bytes") app.used[name] = (app.used[name] ?? 0) + (item.needs[name] ?? 0);
    }
    if (item.newWallet !== undefined) this.#wallets.add(item.newWallet.address);
  }

  #neededBy({ needs, newWallet }: Needing): QuotaName[] {
    const exists = newWallet !== undefined && this.#wallets.has(newWallet.address);
    return quotasIn(needs).filter((name) => name !== "wallets" || !exists);
  }
}

interface LimitedApp {
  limits: Quotas;
  /** With what the calls of the group have taken. */
  used: Needs;
}

function quotasIn(needs: Needs): QuotaName[] {
  return Object.keys(needs) as QuotaName[];
}

type RequestItem = Omit<NewRequest, "now"> & { newWallet?: NewWallet | undefined };

/** What a request needs of the quotas. */
export function needsOfRequest(item: RequestItem): Needs {
  const { type, waitsForMedia, command, unlockable = null, newWallet } = item;
  const bytes = storedBytesOf(command, unlockable);
  return {
    ...(waitsForMedia === true ? { media_requests: 1 } : {}),
    // A freeze stores metadata, which does not count. The media worker compares the files with the quota when it has copied them.
    ...(waitsForMedia === true && command.kind !== "freeze-metadata" ? { media_bytes: 1 } : {}),
    ...(type === "collection" ? { collections: 1 } : {}),
    ...(type === "mint" ? { mints: 1 } : {}),
    ...(bytes > 0 ? { stored_bytes: bytes } : {}),
    ...(newWallet === undefined ? {} : { wallets: 1 }),
  };
}

/** `Retry-After` in seconds. Media are copied all the time; for the other quotas, somebody makes room or gives a higher quota. */
const RETRY_AFTER: Partial<Record<QuotaName, number>> = { media_requests: 30 };

const RETRY_AFTER_HELP = 3_600;

/** The error of a call that a quota of its app refuses. */
export function overQuota(quota: UsedQuota): ApiError {
  const retryAfter = RETRY_AFTER[quota.name] ?? RETRY_AFTER_HELP;
  return new ApiError("quota_exceeded", null, { retryAfter, message: quotaMessage(quota) });
}
