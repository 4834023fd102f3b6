import type { RequestFailureCode } from "../domain/error-codes.ts";

/** Media that cannot be copied, with the code that its request fails with. */
export class MediaError extends Error {
  override readonly name = "MediaError";
  readonly errorCode: Extract<RequestFailureCode, `media_${string}`>;
  /** Whether another try may do better. */
  readonly transient: boolean;

  constructor(
    errorCode: MediaError["errorCode"],
    message: string,
    options: { transient?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.errorCode = errorCode;
    this.transient = options.transient ?? false;
  }
}
