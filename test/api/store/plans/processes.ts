import { addCalls } from "../../../../api/store/apps/quotas.ts";
import {
  finishNamedLease,
  holdNamedLease,
  isLeaseFree,
  lastDoneOf,
  releaseNamedLease,
  renewNamedLease,
  takeNamedLease,
} from "../../../../api/store/db/work-lease.ts";
import { writeMetaOnce } from "../../../../api/store/db/meta.ts";
import { forgetParked, isAnyParked, parkedOf, parkRows } from "../../../../api/store/db/parked-rows.ts";
import { countProcesses, recordProcess, removeProcess } from "../../../../api/store/db/presence.ts";
import { NOW, type Tour } from "./tour.ts";

export async function runProcesses({ read, write }: Tour): Promise<void> {
  await write((trx) => writeMetaOnce(trx, "wallets_key", "key"));
  const time = { now: NOW, lasts: 15_000 };
  const isGone = () => false;
  await isLeaseFree(read, "indexer", time, isGone);
  const lease = await write((trx) => takeNamedLease(trx, "indexer", "holder", time, isGone));
  if (lease === null) throw new Error("the lease is free");
  await write((trx) => renewNamedLease(trx, lease, NOW + 15_000));
  await write((trx) => holdNamedLease(trx, lease));
  await write((trx) => releaseNamedLease(trx, lease));
  const again = await write((trx) => takeNamedLease(trx, "indexer", "holder", time, isGone));
  if (again === null) throw new Error("the lease was released");
  await write((trx) => finishNamedLease(trx, again, NOW));
  await lastDoneOf(read, "indexer");
  await write((trx) => recordProcess(trx, "api", "process", { now: NOW, until: NOW + 15_000 }));
  await countProcesses(read, "relayer", { now: NOW, lasts: 15_000, within: 7_500 });
  await write((trx) => removeProcess(trx, "api", "process"));
  const counts = [{ key: "token:a", used: 1, endsAt: NOW + 60_000 }];
  await write((trx) => addCalls(trx, counts, { now: NOW, window: 60_000 }));
  await write((trx) => parkRows(trx, "old_row", [{ id: "a", error: "it always fails" }], NOW));
  await parkedOf(read, "old_row");
  await isAnyParked(read);
  await write((trx) => forgetParked(trx, NOW));
}
