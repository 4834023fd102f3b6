import type { Quotas, UsedQuota } from "../domain/quota.ts";
import { lockQuotas } from "../store/apps/quotas.ts";
import { counterKeys, readCounters } from "../store/db/counters.ts";
import type { Trx } from "../store/db/engine.ts";
import type { Candidate } from "./accept-group.ts";

type MediaCall = Pick<Candidate, "appId" | "waitsForMedia" | "command">;

/**
 * The quotas for requests that wait for media, for a group of calls. Apps without such quotas cost no statement and no lock.
 * The size of media is not known yet: the media worker compares it with the quota when it has copied them.
 */
export class MediaQuotas {
  readonly #quotas: Map<string, Quotas>;
  readonly #counts: Map<string, number>;

  private constructor(quotas: Map<string, Quotas>, counts: Map<string, number>) {
    this.#quotas = quotas;
    this.#counts = counts;
  }

  /** @param held the apps that exist. Call it before any other row is locked: see `locks.ts`. */
  static async read(trx: Trx, calls: readonly MediaCall[], held: ReadonlyMap<string, Quotas>): Promise<MediaQuotas> {
    const limited = calls.filter(({ appId, waitsForMedia }) => waitsForMedia && hasQuota(held.get(appId)));
    if (limited.length === 0) return new MediaQuotas(new Map(), new Map());
    const quotas = await lockQuotas(
      trx,
      limited.map(({ appId }) => appId),
    );
    const keys = [...quotas.keys()].flatMap((app) => [counterKeys.mediaBacklog(app), counterKeys.mediaBytes(app)]);
    return new MediaQuotas(quotas, await readCounters(trx, keys));
  }

  /** @returns null when the call has room. */
  refusalOf({ appId, waitsForMedia, command }: MediaCall): UsedQuota | null {
    const quotas = this.#quotas.get(appId);
    if (!waitsForMedia || quotas === undefined) return null;
    const { media_requests: requests, media_bytes: bytes } = quotas;
    if (requests !== null && this.#count(counterKeys.mediaBacklog(appId)) >= requests) {
      return { name: "media_requests", limit: requests };
    }
    // A freeze stores metadata, which does not count.
    if (bytes === null || command.kind === "freeze-metadata") return null;
    return this.#count(counterKeys.mediaBytes(appId)) >= bytes ? { name: "media_bytes", limit: bytes } : null;
  }

  /** Counts an accepted request. */
  add({ appId, waitsForMedia }: MediaCall): void {
    const key = counterKeys.mediaBacklog(appId);
    if (waitsForMedia) this.#counts.set(key, this.#count(key) + 1);
  }

  #count(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
}

function hasQuota(quotas: Quotas | undefined): boolean {
  return quotas !== undefined && (quotas.media_requests !== null || quotas.media_bytes !== null);
}
