import { Webhook } from "standardwebhooks";

import type { ReceivedCall } from "../../scripts/scene/receiver.ts";

/** Whether the call is signed with the secret. */
export function isSigned(call: ReceivedCall, secret: string): boolean {
  try {
    new Webhook(secret).verify(call.text, call.headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
