import { PRUNED_KINDS } from "../../../../api/domain/retention.ts";
import { enqueueTestEvent } from "../../../../api/store/outbox/events.ts";
import { insertApiToken } from "../../../../api/store/apps/api-tokens.ts";
import { insertConsoleLink } from "../../../../api/store/apps/console-sessions.ts";
import { insertAnswers } from "../../../../api/store/apps/idempotency.ts";
import { countOld, pruneSeries, pruneSome } from "../../../../api/store/retention/prune.ts";
import { BUSY } from "../support/large-database.ts";
import { NOW, type Tour } from "./tour.ts";

const DAYS = 1;
const AGE = { now: 2 * NOW + DAYS * 86_400_000, days: DAYS };

const LONG_ANSWER = { appId: BUSY.app, key: "batch", fingerprint: "old:1", response: "x".repeat(3_000) };

/** Prunes one step of each kind: everything in the large database is old, and most of it is final. */
export async function runRetention({ read, write }: Tour): Promise<void> {
  await write(async (trx) => {
    // Long before the oldest request that waits.
    await insertAnswers(trx, [{ appId: BUSY.app, key: "old", fingerprint: "old:1", response: "{}" }], -864_000_000);
    await trx
      .updateTable("deliveries")
      .set({ status: "delivered", next_at: null })
      .where("seq", "in", [5, 6, 7])
      .execute();
    const link = { id: "old", app_id: null, scopes: [], code_hash: "old", created_at: 1, expires_at: 1 };
    await insertConsoleLink(trx, link);
    const token = {
      ...{ id: "old", app_id: BUSY.app, name: "old", hash: "old", scopes: [], rate_limit_per_minute: null },
      ...{ expires_at: 1, created_at: 1 },
    };
    await insertApiToken(trx, { ...token, revoked_at: null });
    await trx.updateTable("deliveries").set({ status: "failed", next_at: null }).where("seq", "=", 8).execute();
    const { id } = await enqueueTestEvent(trx, { id: BUSY.app, app_id: BUSY.app }, NOW);
    await trx.updateTable("deliveries").set({ status: "failed", next_at: null }).where("id", "=", id).execute();
  });
  await write((trx) => pruneSeries(trx, AGE.now));
  for (const kind of PRUNED_KINDS) {
    if (kind === "batch_answers") await write((trx) => insertAnswers(trx, [LONG_ANSWER], -864_000_000));
    await countOld(read, kind, AGE);
    const one = await write((trx) => pruneSome(trx, kind, AGE, 1));
    const { rows } = await write((trx) => pruneSome(trx, kind, AGE));
    if (one.rows + rows === 0) throw new Error(`nothing of the kind ${kind} was pruned`);
  }
}
