import { sql } from "kysely";
import { expect } from "chai";

import { type Database, openDatabase } from "../../../../api/store/db/database.ts";
import { enqueueEvents } from "../../../../api/store/outbox/events.ts";
import { eventsAfter } from "../../../../api/store/outbox/feed.ts";
import type { StoredRequest } from "../../../../api/store/requests/requests.ts";
import { openTestDatabase, type TestDatabase } from "../../../support/database.ts";
import { describeOn } from "../../../support/engine.ts";
import { addApp, addRequest, APP, creation } from "../../support/rows.ts";

/** Writers of each process, and the requests of each writer. */
const WRITERS = 3;
const REQUESTS = 12;

describeOn("postgres", "the events feed, while several processes add events", () => {
  let one: TestDatabase;
  let other: Database;
  before(async () => {
    one = await openTestDatabase();
    other = await openDatabase(one.url, { connections: 2 * WRITERS });
    await addApp(one);
  });
  after(async () => {
    await other.close();
    await one.remove();
  });

  it("shows every event once to a reader that follows it, in the order of positions and without gaps", async () => {
    const requests: StoredRequest[] = [];
    for (let count = 0; count < 2 * WRITERS * REQUESTS; count++) requests.push(await addRequest(one, creation()));
    const state = { writing: true };
    const reader = (async () => {
      const seen: { position: number; id: string | null }[] = [];
      for (let last = false; !last;) {
        // The events of the last look are complete only if it began after the last commit.
        last = !state.writing;
        const page = await eventsAfter(one.read, { appId: APP, after: seen.at(-1)?.position ?? 0 }, 5);
        if (page.length > 0) last = false;
        seen.push(...page.map(({ position, body }) => ({ position, id: body.request_id })));
      }
      return seen;
    })();
    // Some transactions stay open for a while after they have taken their positions, so that others could overtake them.
    const write = async (database: Database, own: StoredRequest[]) => {
      for (const request of own) {
        await database.writeGroup(async (trx) => {
          await enqueueEvents(trx, [{ request, type: "sent" }], 1);
          await sql`select pg_sleep(random() * 0.01)`.execute(trx);
        });
      }
    };
    const share = (index: number) => requests.slice(index * REQUESTS, (index + 1) * REQUESTS);
    const writers = Array.from({ length: 2 * WRITERS }, (_, index) =>
      write(index % 2 === 0 ? one : other, share(index)),
    );
    await Promise.all(writers);
    state.writing = false;
    const seen = await reader;
    expect(seen.map(({ position }) => position)).to.deep.equal(requests.map((_, index) => index + 1));
    expect(seen.map(({ id }) => id)).to.have.members(requests.map(({ id }) => id));
  });
});
