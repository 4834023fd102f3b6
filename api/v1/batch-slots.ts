import { BATCHES_AT_ONCE, MAX_WAITING_BATCHES } from "../config/limits.ts";
import { ApiError } from "../domain/error-codes.ts";
import { FairSlots } from "../shared/fair-slots.ts";

/** `Retry-After` in seconds when too many batches of the app wait. */
const RETRY_AFTER = 5;

/**
 * Limits how many batches are handled at a time. A batch that has to wait has not been read: it takes no memory. The slots are
 * divided between the apps, so the batches of one do not keep those of the others waiting.
 */
export class BatchSlots {
  readonly #running: string[] = [];
  #waiting: { appId: string; start: () => void }[] = [];

  /**
   * Waits for a slot.
   * @param closed aborts when the call is closed. It then stops waiting.
   * @returns a function that frees the slot.
   * @throws ApiError `unavailable` when too many of the app wait
   */
  async take(appId: string, closed?: AbortSignal): Promise<() => void> {
    if (this.#waiting.filter((one) => one.appId === appId).length >= MAX_WAITING_BATCHES) {
      const message =
        "Too many batches of this app are in progress. Wait for their answers, then try again after the number of seconds in `Retry-After`.";
      throw new ApiError("unavailable", null, { retryAfter: RETRY_AFTER, message });
    }
    await new Promise<void>((start, reject) => {
      const waiting = { appId, start };
      this.#waiting.push(waiting);
      closed?.addEventListener("abort", () => {
        // Has no effect on one that has started.
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        reject(new ApiError("request_timeout"));
      });
      this.#startNext();
    });
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
