import type { Trx } from "../../../../api/store/db/engine.ts";
import {
  type ReservationRefusal,
  ReservationSet,
  type ReservingCommand,
} from "../../../../api/store/requests/reservation-set.ts";

/** Reserves what one request needs, as a group of one. */
export async function reserve(
  trx: Trx,
  requestId: string,
  command: ReservingCommand,
): Promise<"ok" | ReservationRefusal> {
  const set = await ReservationSet.read(trx, [command]);
  const result = set.take(requestId, command);
  await set.store(trx);
  return result;
}
