import type { CreateCollection } from "../domain/command.ts";
import { type AcceptDeps, acceptRequest } from "./accept-request.ts";
import { answerOfEarlierCall, type Caller } from "./idempotency.ts";

/** Accepts the deployment of a collection. @returns the JSON text of the answer. */
export async function createCollection(deps: AcceptDeps, caller: Caller, command: CreateCollection): Promise<string> {
  const earlier = await answerOfEarlierCall(deps, caller);
  return earlier ?? acceptRequest(deps, caller, { type: "collection", command });
}
