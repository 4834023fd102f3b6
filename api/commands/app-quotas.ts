import { ApiError } from "../domain/error-codes.ts";
import { quotaMessage, type QuotaName, type Quotas, storedBytesOf, type UsedQuota } from "../domain/quota.ts";
import { countLiveTokens } from "../store/apps/api-tokens.ts";
import { holdApps } from "../store/apps/apps.ts";
import { lockQuotas, readCounted } from "../store/apps/quotas.ts";
import type { Trx } from "../store/db/sql.ts";
import type { Item } from "./accept.ts";

/** How much of each quota something needs. */
export type QuotaNeeds = Partial<Record<QuotaName, number>>;

interface LimitedApp {
  limits: Quotas;
  /** With what was accepted in the transaction. */
  used: QuotaNeeds;
}

/**
 * The quotas of apps, for a group of changes in one transaction. An app is locked if one of its quotas is needed, so that one
 * call at a time is compared with it. Apps without such quotas cost no statement and no lock.
 */
export class AppQuotas {
  readonly #apps = new Map<string, LimitedApp>();

  /**
   * @param held the apps that exist (`holdApps`). Call it before any other row is locked: see `sql.ts`.
   * @param wanted which app needs what.
   */
  static async lock(
    trx: Trx,
    held: ReadonlyMap<string, Quotas>,
    wanted: Iterable<{ appId: string; needs: QuotaNeeds }>,
  ): Promise<AppQuotas> {
    const locked = new AppQuotas();
    const limited = [...wanted].filter(({ appId, needs }) =>
      quotasIn(needs).some((name) => held.get(appId)?.[name] != null),
    );
    if (limited.length === 0) return locked;
    const quotas = await lockQuotas(trx, new Set(limited.map(({ appId }) => appId)));
    const counted = await readCounted(trx, quotas.keys());
    const tokens = limited.some(({ needs }) => needs.api_tokens !== undefined)
      ? await countLiveTokens(trx, [...quotas.keys()], Date.now())
      : new Map<string, number>();
    for (const [app, limits] of quotas)
      locked.#apps.set(app, { limits, used: { ...counted.get(app), api_tokens: tokens.get(app) ?? 0 } });
    return locked;
  }

  /** For a change of one app that is not a request. */
  static async lockOne(trx: Trx, appId: string, name: QuotaName): Promise<AppQuotas> {
    return AppQuotas.lock(trx, await holdApps(trx, [appId]), [{ appId, needs: { [name]: 1 } }]);
  }

  /** @returns null when there is room. What needs no more room always fits. */
  refusalOf(appId: string, needs: QuotaNeeds): ApiError | null {
    const app = this.#apps.get(appId);
    if (app === undefined) return null;
    for (const name of quotasIn(needs)) {
      const [more, used, limit] = [needs[name] ?? 0, app.used[name] ?? 0, app.limits[name]];
      if (limit !== null && more > 0 && used + more > limit) return overQuota({ name, limit });
    }
    return null;
  }

  /** @throws ApiError `quota_exceeded` when there is no room */
  require(appId: string, needs: QuotaNeeds): void {
    const refusal = this.refusalOf(appId, needs);
    if (refusal !== null) throw refusal;
  }

  /** Counts what was accepted. The size of media is known only when they are copied. */
  add(appId: string, needs: QuotaNeeds): void {
    const used = this.#apps.get(appId)?.used;
    if (used === undefined) return;
    for (const name of quotasIn(needs)) {
      if (name !== "media_bytes") used[name] = (used[name] ?? 0) + (needs[name] ?? 0);
    }
  }
}

function quotasIn(needs: QuotaNeeds): QuotaName[] {
  return Object.keys(needs) as QuotaName[];
}

/** What an item needs of the quotas of its app. */
export function quotaNeedsOf({ type, waitsForMedia, command, unlockable = null, newWallet }: Item): QuotaNeeds {
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
