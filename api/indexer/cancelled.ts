import type { RelayEvent } from "../chain/logs.ts";
import type { BlockRange } from "../store/ledger/apply-range.ts";
import type { Database } from "../store/db/database.ts";
import { requestsByNumber } from "../store/requests/requests.ts";

/** Requests whose number an operator or the owner of the relay has cancelled: no batch can run them any more. */
export async function cancelledRequests(
  database: Database,
  events: readonly RelayEvent[],
): Promise<BlockRange["cancelled"]> {
  const places = new Map(
    events.flatMap((event) => (event.kind === "number-cancelled" ? [[event.number, event] as const] : [])),
  );
  const requests = await requestsByNumber(database.read, [...places.keys()]);
  return requests.flatMap((request) => {
    const place = places.get(request.number);
    if (place === undefined) return [];
    return [{ request, transactionHash: place.transactionHash, blockNumber: place.blockNumber }];
  });
}
