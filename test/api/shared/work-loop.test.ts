import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";

import { expect } from "chai";

import { Program, ROOT } from "../../../scripts/scene/program.ts";
import { Signal } from "../../../api/shared/signal.ts";
import { type StepResult, WorkLoop, type WorkLoopOptions } from "../../../api/shared/work-loop.ts";
import { eventually } from "../../support/eventually.ts";
import { logLines } from "../../support/log-lines.ts";

/** A long wait, in milliseconds. A test that reaches it fails. */
const NEVER = 600_000;
const MESSAGES = { failed: "it fails", recovered: "it works again" };

describe("WorkLoop", () => {
  let log: ReturnType<typeof logLines>;
  let stop: AbortController;
  let wake: Signal;
  let running: Promise<void>;
  let steps: number;

  beforeEach(() => {
    log = logLines();
    stop = new AbortController();
    wake = new Signal();
    steps = 0;
    running = Promise.resolve();
  });
  afterEach(async () => {
    stop.abort();
    await running;
  });

  function start(step: (abort: AbortSignal) => Promise<StepResult>, options: Partial<WorkLoopOptions> = {}): WorkLoop {
    const loop = new WorkLoop({ logger: log.logger, wake, pollInterval: NEVER, messages: MESSAGES, ...options });
    running = loop.run(async (abort) => {
      steps += 1;
      return step(abort);
    }, stop.signal);
    return loop;
  }

  /** Replaces the wait of the backoff: returns immediately and records the duration. */
  function noted(waits: number[]): NonNullable<WorkLoopOptions["wait"]> {
    return async (milliseconds) => {
      waits.push(milliseconds);
      await turn();
    };
  }

  const reached = (count: number) => eventually(() => Promise.resolve(steps >= count ? true : undefined));

  for (const result of ["idle", "full"] as const) {
    describe(`given a step that returns "${result}"`, () => {
      it("looks again at once after a signal", async () => {
        start(() => Promise.resolve(result));
        await reached(1);
        wake.notify();
        await reached(2);
      });

      it("looks again after the poll interval without a signal", async () => {
        start(() => Promise.resolve(result), { pollInterval: 5 });
        await reached(3);
      });

      it("stops at once on abort", async () => {
        start(() => Promise.resolve(result));
        await reached(1);
        stop.abort();
        await running;
        expect(steps).to.equal(1);
      });
    });
  }

  describe("given steps that fail", () => {
    it("doubles the backoff up to the limit, and starts again from the first wait after a success", async () => {
      const waits: number[] = [];
      const results = [...Array<string>(6).fill("fail"), "again", "fail", "fail", "idle"];
      start(
        () => {
          const result = results[steps - 1];
          return result === "fail" ? Promise.reject(new Error("down")) : Promise.resolve(result as StepResult);
        },
        { wait: noted(waits), backoff: { first: 100, longest: 1_000 } },
      );
      await reached(results.length);
      expect(waits).to.deep.equal([100, 200, 400, 800, 1_000, 1_000, 100, 200]);
    });

    it("logs an error once per change, and logs once when the work succeeds again", async () => {
      const errors = ["a", "a", "a", "b", "b", "a", null, null, "a", null];
      const loop = start(
        () => {
          const message = errors[steps - 1];
          if (message != null) return Promise.reject(new Error(message));
          return Promise.resolve(steps < errors.length ? "again" : "idle");
        },
        { wait: noted([]) },
      );
      await reached(errors.length);
      await turn();
      expect(log.lines.map(({ msg, err }) => err?.message ?? msg)).to.deep.equal([
        "a",
        "b",
        "a",
        MESSAGES.recovered,
        "a",
        MESSAGES.recovered,
      ]);
      expect(loop.lastError).to.equal(null);
    });

    it("shows the newest error, and compares errors by their key", async () => {
      const loop = start(() => Promise.reject(new Error(`the fee is ${steps.toString()}`)), {
        wait: noted([]),
        describe: (error) => `sorry: ${(error as Error).message}`,
        keyOf: () => "fee",
      });
      await reached(5);
      expect(Number(/^sorry: the fee is (\d+)$/.exec(loop.lastError ?? "")?.[1])).to.be.at.least(4);
      expect(log.lines.map(({ msg }) => msg)).to.deep.equal([MESSAGES.failed]);
    });
  });

  describe("given an error from outside the step", () => {
    it("keeps it while steps do not look, and clears it after one that succeeds", async () => {
      let result: StepResult = "full";
      const loop = start(() => Promise.resolve(result));
      await reached(1);
      for (let count = 0; count < 3; count++) loop.report(new Error("not recorded"));
      wake.notify();
      await reached(2);
      expect(loop.lastError).to.equal("not recorded");
      result = "idle";
      wake.notify();
      await eventually(() => Promise.resolve(loop.lastError === null ? true : undefined));
      expect(log.lines.map(({ msg }) => msg)).to.deep.equal([MESSAGES.failed, MESSAGES.recovered]);
    });
  });

  describe("given an abort during a step", () => {
    it("does not claim that the step succeeded", async () => {
      const loop = start(
        async (abort) => {
          if (steps === 1) throw new Error("down");
          await new Promise((resolve) => {
            abort.addEventListener("abort", resolve);
          });
          return "again";
        },
        { wait: noted([]) },
      );
      await reached(2);
      stop.abort();
      await running;
      expect(loop.lastError).to.equal("down");
      expect(log.lines.map(({ msg }) => msg)).to.deep.equal([MESSAGES.failed]);
    });
  });
});

describe("runWorkers", () => {
  const code = `
    import { runWorkers } from ${JSON.stringify(join(ROOT, "api", "shared", "work-loop.ts"))};
    runWorkers([{ worker: { run: () => Promise.reject(new Error("it is broken")) } }], new AsyncDisposableStack());
    setInterval(() => {}, 60_000);`;

  it("ends the process when a worker ends by an error: one that only accepts requests would look healthy", async () => {
    const program = new Program(["--input-type=module", "--eval", code]);
    expect(await program.gone()).to.equal(1);
    expect(program.output).to.contain("it is broken");
  });
});
