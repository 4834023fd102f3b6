import { expect } from "chai";

import { Signal } from "../../../api/shared/signal.ts";
import { TaskPool, type TaskSpeed } from "../../../api/shared/task-pool.ts";

const LIMITS = { shared: 8, ofApp: 4, most: 10 };

describe("TaskPool", () => {
  let pool: TaskPool;
  let settled: Signal;
  let failures: unknown[];
  beforeEach(() => {
    settled = new Signal();
    pool = new TaskPool(LIMITS, settled);
    failures = [];
  });

  /** Starts a task that runs until it is told its end. */
  function task(app: string): PromiseWithResolvers<TaskSpeed> {
    const end = Promise.withResolvers<TaskSpeed>();
    pool.start(
      app,
      () => end.promise,
      (error) => {
        failures.push(error);
      },
    );
    return end;
  }

  it("counts running tasks, and wakes the worker when one ends", async () => {
    const first = task("a");
    task("b").resolve("in-time");
    await settled.wait(10_000);
    expect(pool.slots().free).to.equal(9);
    first.resolve("in-time");
    await pool.drained();
    expect(pool.slots().free).to.equal(10);
  });

  it("gives an app one slot after a slow task, until a task is in time", async () => {
    task("a").resolve("slow");
    await pool.drained();
    const slots = pool.slots();
    expect([slots.take("a"), slots.take("a"), slots.take("b"), slots.take("b")]).to.deep.equal([
      true,
      false,
      true,
      true,
    ]);
    task("a").resolve("in-time");
    await pool.drained();
    const later = pool.slots();
    expect([later.take("a"), later.take("a")]).to.deep.equal([true, true]);
  });

  it("frees the slot of a task that throws, and passes the error on", async () => {
    const error = new Error("no database");
    task("a").reject(error);
    await pool.drained();
    expect(failures).to.deep.equal([error]);
    expect(pool.slots().free).to.equal(10);
  });
});
