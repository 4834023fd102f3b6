import type { Condition } from "../domain/conditions.ts";

/** Why a lane cannot send any batch at all. */
type CannotSendCode =
  "unknown_transaction" | "no_relay" | "not_operator" | "relay_paused" | "no_funds" | "fees_too_high";

/** The states that `doctor` and `/metrics` report under a name of their own. */
const CONDITION_OF: Partial<Record<CannotSendCode, Condition>> = {
  relay_paused: "relay_paused",
  no_funds: "low_funds",
};

/** Nothing can be sent now. The code says why to programs, the message says why to people and what to do next. */
export class CannotSend extends Error {
  override readonly name = "CannotSend";
  readonly code: CannotSendCode;

  constructor(code: CannotSendCode, message: string) {
    super(message);
    this.code = code;
  }

  get condition(): Condition | undefined {
    return CONDITION_OF[this.code];
  }
}
