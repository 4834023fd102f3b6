import { once } from "node:events";
import { Worker } from "node:worker_threads";

import { expect } from "chai";

import { WriteTurns } from "../../../../api/store/db/sqlite/write-turns.ts";

describe("WriteTurns", () => {
  /** The same turns as another thread has them: a separate object on the same memory. */
  const again = (turns: WriteTurns) => new WriteTurns(turns.shared);

  /** Runs code in another thread, which has `turns` and, as `data`, what else it gets. */
  const thread = (turns: WriteTurns, data: SharedArrayBuffer, code: string): Worker => {
    const module = new URL("../../../../api/store/db/sqlite/write-turns.ts", import.meta.url).href;
    const program = `
      const { WriteTurns } = await import(${JSON.stringify(module)});
      const { workerData } = await import("node:worker_threads");
      const [turns, data] = [new WriteTurns(workerData.turns), new Int32Array(workerData.data)];
      ${code}`;
    const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
    return new Worker(url, { workerData: { turns: turns.shared, data } });
  };

  it("gives the turn on when a write fails", async () => {
    const turns = new WriteTurns();
    const failed = turns.take(() => Promise.reject(new Error("disk full")));
    const next = again(turns).take(() => Promise.resolve("written"));
    expect(await failed.catch((error: unknown) => (error as Error).message)).to.equal("disk full");
    expect(await next).to.equal("written");
  });

  it("keeps two threads apart", async () => {
    const turns = new WriteTurns();
    const count = new SharedArrayBuffer(4);
    // Each adds with a pause between reading and storing, so that an overlap loses an addition.
    const adding = `
      for (let round = 0; round < 200; round++) {
        await turns.take(async () => {
          const before = Atomics.load(data, 0);
          await new Promise((resolve) => setImmediate(resolve));
          Atomics.store(data, 0, before + 1);
        });
      }`;
    const threads = [1, 2].map(() => thread(turns, count, adding));
    const codes = await Promise.all(threads.map((thread) => once(thread, "exit")));
    expect(codes.flat()).to.deep.equal([0, 0]);
    expect(new Int32Array(count)[0]).to.equal(400);
  });
});
