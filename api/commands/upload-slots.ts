import { UPLOADS } from "../config/limits.ts";
import { ApiError } from "../domain/error-codes.ts";
import { FairSlots } from "../shared/fair-slots.ts";

/** Seconds after which a slot may be free. */
const RETRY_AFTER = 1;

/** The uploads that run in this process. The apps share the slots, and each app can always get one. */
export class UploadSlots {
  /** The app of each upload. */
  readonly #running: string[] = [];

  /** Runs an upload in a slot of the app. @throws ApiError `rate_limited` when the app has no free slot. */
  async run<T>(appId: string, upload: () => Promise<T>): Promise<T> {
    if (!new FairSlots(UPLOADS, this.#running).take(appId)) {
      const message = `Too many uploads of the app run at the same time. At most ${UPLOADS.ofApp.toString()} may. Send the file again when one of them has ended.`;
      throw new ApiError("rate_limited", null, { retryAfter: RETRY_AFTER, message });
    }
    this.#running.push(appId);
    try {
      return await upload();
    } finally {
      this.#running.splice(this.#running.indexOf(appId), 1);
    }
  }
}
