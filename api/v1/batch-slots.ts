import { BATCHES_AT_ONCE, WAITING_BATCHES } from "../config/limits.ts";
import { ApiError } from "../domain/error-codes.ts";
import { FairSlots } from "../shared/fair-slots.ts";

/** `Retry-After` in seconds when no further batch may wait, or one has waited too long. */
const RETRY_AFTER = 5;

/**
 * Limits how many batches are handled at a time. A batch that has to wait has not been read: it takes no memory. The slots, and
 * the places of those that wait, are divided between the apps, so the batches of one do not keep those of the others waiting.
 */
export class BatchSlots {
  readonly #waitSeconds: number;
  readonly #running: string[] = [];
  #waiting: { appId: string; start: () => void }[] = [];

  /** @param waitSeconds how long a batch waits. */
  constructor(waitSeconds: number) {
    this.#waitSeconds = waitSeconds;
  }

  /**
   * Waits for a slot.
   * @param closed aborts when the call is closed. It then stops waiting.
   * @returns a function that frees the slot.
   * @throws ApiError `unavailable` when too many wait, or this one has waited too long
   */
  async take(appId: string, closed?: AbortSignal): Promise<() => void> {
    const apps = this.#waiting.map((one) => one.appId);
    if (!new FairSlots(WAITING_BATCHES, apps).take(appId)) {
      const message = apps.includes(appId)
        ? "Too many batches of this app are in progress. Wait for their answers, then try again after the number of seconds in `Retry-After`."
        : "Too many batches of all apps are in progress. Try again after the number of seconds in `Retry-After`.";
      throw new ApiError("unavailable", null, { retryAfter: RETRY_AFTER, message });
    }
    const started = Promise.withResolvers<null>();
    const waiting = {
      appId,
      start: () => {
        started.resolve(null);
      },
    };
    const stop = (reason: ApiError) => {
      this.#waiting = this.#waiting.filter((one) => one !== waiting);
      // Has no effect on one that has started.
      started.reject(reason);
    };
    closed?.addEventListener("abort", () => {
      stop(new ApiError("request_timeout"));
    });
    const timer = setTimeout(() => {
      stop(waitedTooLong(this.#waitSeconds));
    }, this.#waitSeconds * 1_000);
    this.#waiting.push(waiting);
    this.#startNext();
    try {
      await started.promise;
    } finally {
      clearTimeout(timer);
    }
    return () => {
      this.#running.splice(this.#running.indexOf(appId), 1);
      this.#startNext();
    };
  }

  #startNext(): void {
    const slots = new FairSlots(BATCHES_AT_ONCE, this.#running);
    this.#waiting = this.#waiting.filter(({ appId, start }) => {
      if (!slots.take(appId)) return true;
      this.#running.push(appId);
      start();
      return false;
    });
  }
}

function waitedTooLong(seconds: number): ApiError {
  const message = `The service is busy: it could not begin to read the batch within ${seconds.toString()} seconds, and stored nothing of it. Repeat the call, with the same Idempotency-Key, after the number of seconds in \`Retry-After\`.`;
  return new ApiError("unavailable", null, { retryAfter: RETRY_AFTER, message });
}
