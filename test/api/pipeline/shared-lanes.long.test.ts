import { setTimeout as wait } from "node:timers/promises";

import { expect } from "chai";

import { type Database, openDatabase } from "../../../api/store/db/database.ts";
import { eventually } from "../../support/eventually.ts";
import type { TestProcess } from "../../support/process.ts";
import { useService } from "../../support/use-service.ts";

/** Long enough that a busy machine delays no renewal for so long: then a relayer would lose a lane. */
const LEASE_SECONDS = 8;
const LANES = 4;
const MINTS = 60;

describe("lanes of several relayers", () => {
  const settings = {
    LEASE_SECONDS: LEASE_SECONDS.toString(),
    LANES: LANES.toString(),
    RATE_LIMIT_PER_MINUTE: "1000000",
    PUBLIC_RATE_LIMIT_PER_MINUTE: "1000000",
  };
  // Processes: one is killed.
  const moneta = useService({ start: false, settings });
  const { api } = moneta;
  let first: TestProcess;
  let second: TestProcess;
  let database: Database;
  let mint: () => Promise<string>;
  const accepted: string[] = [];

  const rows = () => database.read.selectFrom("lanes").selectAll().orderBy("lane").execute();
  const pidOf = (holder: string | null) => Number(holder?.split("/")[2]);

  /** Waits until the processes drive so many lanes. @returns the fencing tokens. */
  async function untilHeld(wanted: readonly (readonly [TestProcess, number])[], deadline?: number): Promise<number[]> {
    return eventually(async () => {
      const lanes = await rows();
      const held = ({ child }: TestProcess) => lanes.filter((lane) => pidOf(lane.lease_holder) === child.pid).length;
      const isSo = wanted.every(([process, count]) => held(process) === count);
      return isSo ? lanes.map((lane) => lane.lease_fence) : undefined;
    }, deadline);
  }

  before("a relayer drives all lanes", async () => {
    await moneta.startProcess({ ROLES: "api" });
    database = await openDatabase(moneta.databaseUrl);
    first = moneta.spawn({ ROLES: "relayer,indexer" });
    const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    mint = () => api.accept("/v1/nfts", { collection_address: collection, to_address: to });
    await untilHeld([[first, LANES]]);
    // Longer than a relayer keeps each lane in any case.
    await wait(LEASE_SECONDS * 1_000);
  });
  after(() => database.close());

  it("are shared with a second one, once each, while requests go on", async () => {
    const fences = (await rows()).map((lane) => lane.lease_fence);
    second = moneta.spawn({ ROLES: "relayer,indexer" });
    await second.printed(/"msg":"serving"/);
    for (let index = 0; index < MINTS; index += 1) accepted.push(await mint());
    const shared = await untilHeld([
      [first, LANES / 2],
      [second, LANES / 2],
    ]);
    // A lane that changes its holder has a new fencing token.
    const changes = shared.map((fence, lane) => fence - (fences[lane] ?? NaN));
    expect(changes.toSorted()).to.deep.equal([0, 0, 1, 1]);
    await wait(2 * LEASE_SECONDS * 1_000);
    expect((await rows()).map((lane) => lane.lease_fence)).to.deep.equal(shared);
  });

  it("all go to the other one, when one is killed", async () => {
    await second.end("SIGKILL");
    accepted.push(await mint());
    await untilHeld([[first, LANES]]);
    await wait(2 * LEASE_SECONDS * 1_000);
    await untilHeld([[first, LANES]], 0);
  });

  it("send each request once", async () => {
    const settled = await Promise.all(accepted.map((id) => api.settled(id)));
    expect(settled.map(({ status }) => status)).to.deep.equal(accepted.map(() => "completed"));
    const tokens = settled.map(({ nft_token_id: id }) => Number(id)).toSorted((one, other) => one - other);
    expect(tokens).to.deep.equal(accepted.map((_, index) => index + 1));
  });
});
