import type { RequestFailureCode } from "../../domain/error-codes.ts";

/** Thrown when media cannot be copied. The request fails with its code. */
export class MediaError extends Error {
  override readonly name = "MediaError";
  readonly errorCode: Extract<RequestFailureCode, `media_${string}` | "quota_exceeded">;
  /** Whether a retry may succeed. */
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
