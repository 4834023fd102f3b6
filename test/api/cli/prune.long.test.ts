import { expect } from "chai";

import { counterKeys, readCounter } from "../../../api/store/db/counters.ts";
import { TestProcess } from "../../support/process.ts";
import { addTestEvents } from "../support/rows.ts";
import { runCli } from "./support/run.ts";
import { useCli } from "./support/use-cli.ts";

const DAY = 86_400_000;
/** Deliveries in the test of a kill: 24 steps, so that the process is killed before the last of them. */
const COUNT = 12_000;
/** Deliveries that a step removes. */
const STEP = 500;

interface PruneResult {
  dry_run: boolean;
  rows: number;
  bytes: number;
  kinds: { kind: string; days: number | null; rows: number; bytes: number }[];
}

describe("command line: prune", () => {
  const cli = useCli();
  const rows = async () => {
    const { count } = await cli.api.database.read
      .selectFrom("deliveries")
      .select((eb) => eb.fn.countAll().as("count"))
      .executeTakeFirstOrThrow();
    return Number(count);
  };
  const counted = () => readCounter(cli.api.database.read, counterKeys.deliveries(cli.api.app.id));

  /** Deliveries of test events that were accepted that many days ago. */
  async function addDelivered(count: number, age: number): Promise<void> {
    const now = Date.now();
    await cli.api.database.write(async (trx) => {
      await addTestEvents(trx, cli.api.app.id, count, now);
      await trx
        .updateTable("deliveries")
        .set({ status: "delivered", next_at: null, updated_at: now - age * DAY })
        .where("status", "=", "pending")
        .execute();
    });
  }

  it("counts with --dry-run, deletes without it, and says how much of each kind", async () => {
    await addDelivered(3, 31);
    await addDelivered(2, 29);
    const seen = await cli.json<PruneResult>("prune", "--dry-run");
    expect(seen).to.include({ dry_run: true, rows: 3 });
    expect(seen.bytes).to.be.greaterThan(300);
    expect(seen.kinds.map(({ days }) => days)).to.deep.equal([30, 30, 30, 30, 30, 365, 365, 365, null]);
    expect(await rows()).to.equal(5);
    expect(await cli.json<PruneResult>("prune")).to.deep.equal({ ...seen, dry_run: false });
    expect(await rows()).to.equal(2);
    expect(await counted()).to.equal(2);
    const { output } = await runCli({ ...cli.env, RETAIN_DAYS: "28" }, "prune");
    expect(output).to.match(/^KIND +KEPT FOR +ROWS +BYTES\ndeliveries +28 days +2 +\d+\n/);
    expect(output).to.match(
      /console_sessions +28 days +0 +0\nfailed_deliveries +365 days +0 +0\nbatch_answers +365 days +0 +0\napi_tokens +365 days +0 +0\nidempotency_keys +ever +0 +0\n\ndeleted: 2 rows \(about \d+ bytes\)\n.*(freed pages|vacuum)/,
    );
    expect(await rows()).to.equal(0);
  });

  it("does not repeat a delivery that was pruned, and says why", async () => {
    await addDelivered(1, 31);
    const { id } = await cli.api.database.read.selectFrom("deliveries").select("id").executeTakeFirstOrThrow();
    await cli.run("prune");
    expect(await cli.refusal("webhook", "redeliver", id)).to.contain(
      "may have been pruned (RETAIN_DAYS, RETAIN_FAILED_DAYS)",
    );
  });

  it("given a process that is killed between two steps: has removed whole steps with their totals, and the next run goes on", async () => {
    // Parts, as a statement has a limit of parameters.
    for (let added = 0; added < COUNT; added += STEP) await addDelivered(STEP, 31);
    const first = new TestProcess(["api/cli/main.ts", "prune"], cli.env);
    // At once after a step, so that many steps are left.
    while ((await rows()) === COUNT && !first.exited);
    expect(await first.end("SIGKILL")).to.equal("SIGKILL");
    const left = await rows();
    expect(left).to.be.within(1, COUNT - STEP);
    expect(left % STEP).to.equal(0);
    const announced = await cli.api.database.read.selectFrom("other_processes").select("id").execute();
    expect(announced.map(({ id }) => id.split("/")[2])).to.include(String(first.child.pid));
    expect(await counted()).to.equal(left);
    expect(await cli.json<PruneResult>("prune")).to.include({ rows: left });
    expect([await rows(), await counted()]).to.deep.equal([0, 0]);
  });
});
