import { expect } from "chai";

import { type Database, openDatabase } from "../../../api/store/db/database.ts";
import { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import type { TestProcess } from "../../support/process.ts";
import { createAppIn } from "../../../scripts/scene/scene.ts";
import { useService } from "../../support/use-service.ts";

const LIMIT = 80;
/** Long enough that a busy machine delays no renewal for so long: then a process would count alone. */
const LEASE_SECONDS = 12;

describe("the rate limit of several API processes", () => {
  // Processes: two services in one thread would wait for each other's locks on a SQLite file.
  const moneta = useService({
    start: false,
    settings: { RATE_LIMIT_PER_MINUTE: LIMIT.toString(), LEASE_SECONDS: LEASE_SECONDS.toString() },
  });
  let database: Database;
  let processes: TestProcess[];
  let urls: string[];

  before("start two API processes, and wait until they know each other", async () => {
    ({ processes, urls } = await moneta.startApis(2));
    database = await openDatabase(moneta.databaseUrl);
    // Each has told the other that it runs since both were there.
    const since = Date.now() + LEASE_SECONDS * 1_000;
    await eventually(async () => {
      const rows = await database.read.selectFrom("processes").select("until").execute();
      return rows.length === 2 && rows.every(({ until }) => until > since + 500) ? true : undefined;
    });
  });
  after(() => database.close());

  /** Calls of a new app's token, in turns to the given processes, ten at a time. @returns how many were answered. */
  async function answered(to: string[], calls: number): Promise<number> {
    const { token } = await createAppIn(moneta.databaseUrl, `app ${String(Math.random())}`);
    const clients = to.map((url) => ApiClient.at(url, token));
    const statuses: number[] = [];
    for (let sent = 0; sent < calls; sent += 10) {
      const group = Array.from({ length: 10 }, (_, index) => clients[index % clients.length]!);
      statuses.push(
        ...(await Promise.all(group.map(async (client) => (await client.send("GET", "/v1/accounts")).status))),
      );
    }
    expect(new Set(statuses)).to.deep.equal(new Set([200, 429]));
    return statuses.filter((status) => status === 200).length;
  }

  it("holds for the calls of a token to both together", async () => {
    expect(await answered(urls, 3 * LIMIT)).to.be.within(0.8 * LIMIT, 1.25 * LIMIT);
  });

  it("can be used up at one process alone", async () => {
    expect(await answered(urls.slice(0, 1), 2 * LIMIT)).to.equal(LIMIT);
  });

  it("needs far fewer writes than calls, and none for a token with few calls", async () => {
    const { token } = await createAppIn(moneta.databaseUrl, "quiet");
    const counted = async () => (await database.read.selectFrom("rate_counts").select("key").execute()).length;
    const before = await counted();
    for (const url of urls) expect((await ApiClient.at(url, token).send("GET", "/v1/accounts")).status).to.equal(200);
    expect(await counted()).to.equal(before);
  });

  it("is counted by one process alone once the other has stopped", async () => {
    await processes[1]?.end("SIGTERM");
    expect(await database.read.selectFrom("processes").select("id").execute()).to.have.length(1);
    expect(await answered(urls.slice(0, 1), 2 * LIMIT)).to.equal(LIMIT);
  });
});
