import { setTimeout as wait } from "node:timers/promises";

import { pino } from "pino";

import { addCalls } from "../../../../api/store/apps/quotas.ts";
import { WorkLease } from "../../../../api/store/db/work-lease.ts";
import { writeMetaOnce } from "../../../../api/store/db/meta.ts";
import { forgetParked, parkedOf, parkRows, unparkAll } from "../../../../api/store/db/parked-rows.ts";
import { countProcesses, recordProcess, removeProcess } from "../../../../api/store/db/presence.ts";
import { NOW, type Tour } from "./tour.ts";

export async function runProcesses({ read, write }: Tour): Promise<void> {
  await write((trx) => writeMetaOnce(trx, "wallets_key", "key"));
  const database = {
    read,
    write,
    writeGroup: write,
    snapshot: () => Promise.reject(new Error()),
    close: () => Promise.resolve(),
  };
  const deps = { database, logger: pino({ level: "silent" }), now: () => NOW };
  const lease = new WorkLease("indexer", { ...deps, times: { lasts: 15_000, renewEvery: 1 } });
  const { signal } = new AbortController();
  // The second step renews the lease.
  for (const _ of [1, 2]) await lease.step(signal, () => wait(5));
  await lease.fenced.write(() => Promise.resolve());
  await lease.release();
  await lease.step(signal, () => Promise.resolve());
  await lease.finish();
  await lease.lastDone();
  await write((trx) => recordProcess(trx, "api", "process", { now: NOW, until: NOW + 15_000 }));
  await write((trx) => recordProcess(trx, "other", "process", { now: NOW, until: NOW + 15_000 }));
  await countProcesses(read, "other", { now: NOW, lasts: 15_000, within: 7_500 });
  await write((trx) => removeProcess(trx, "other", "process"));
  await countProcesses(read, "relayer", { now: NOW, lasts: 15_000, within: 7_500 });
  await write((trx) => removeProcess(trx, "api", "process"));
  const count = { key: "token:a", used: 1, endsAt: NOW + 60_000 };
  await write((trx) => addCalls(trx, count, { now: NOW, window: 60_000 }));
  await write((trx) => parkRows(trx, "old_row", [{ id: "a", error: "it always fails" }], NOW));
  await parkedOf(read, "old_row");
  await write((trx) => forgetParked(trx, NOW));
  await write((trx) => unparkAll(trx, "block", [{ id: "1" }]));
}
