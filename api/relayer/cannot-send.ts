/** Why a lane cannot send any batch at all. */
export type CannotSendCode =
  "unknown_transaction" | "no_relay" | "not_operator" | "relay_paused" | "no_funds" | "fees_too_high";

/** Nothing can be sent now. The code says why to programs, the message says why to people and what to do next. */
export class CannotSend extends Error {
  override readonly name = "CannotSend";
  readonly code: CannotSendCode;

  constructor(code: CannotSendCode, message: string) {
    super(message);
    this.code = code;
  }
}
