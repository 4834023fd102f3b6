import { gasLimitsOf } from "../chain/encode-batch.ts";
import type { RelayEvent } from "../chain/logs.ts";
import { ranOutOfGas } from "../chain/revert-reasons.ts";
import type { Database } from "../store/db/database.ts";
import { signedBytes } from "../store/sending/batches.ts";

/** The gas limits of a batch's calls. They are read only if one of them ran out of gas. */
export async function gasLimits(database: Database, relay: RelayEvent[]): Promise<Map<bigint, number>> {
  const short = relay.find((event) => event.kind === "call-failed" && ranOutOfGas(event.reason));
  const raw = short === undefined ? null : await signedBytes(database.read, short.transactionHash);
  return raw === null ? new Map() : gasLimitsOf(raw);
}
