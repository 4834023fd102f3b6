import { once } from "node:events";
import { Worker } from "node:worker_threads";

import { expect } from "chai";

import { WriteTurns } from "../../../../api/store/db/write-turns.ts";

describe("WriteTurns", () => {
  /** The same turns as another thread has them: a separate object on the same memory. */
  const again = (turns: WriteTurns) => new WriteTurns(turns.shared);

  it("lets one write at a time, first come, first served", async () => {
    const turns = new WriteTurns();
    const log: string[] = [];
    const write = (name: string) => async () => {
      log.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} ends`);
    };
    await Promise.all([turns.take(write("a")), again(turns).take(write("b")), turns.take(write("c"))]);
    expect(log).to.deep.equal(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  });

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
      const { WriteTurns } = await import(${JSON.stringify(new URL("../../../../api/store/db/write-turns.ts", import.meta.url).href)});
      const { workerData } = await import("node:worker_threads");
      const [turns, count] = [new WriteTurns(workerData.turns), new Int32Array(workerData.count)];
      for (let round = 0; round < 200; round++) {
        await turns.take(async () => {
          const before = Atomics.load(count, 0);
          await new Promise((resolve) => setImmediate(resolve));
          Atomics.store(count, 0, before + 1);
        });
      }`;
    const url = new URL(`data:text/javascript,${encodeURIComponent(adding)}`);
    const threads = [1, 2].map(() => new Worker(url, { workerData: { turns: turns.shared, count } }));
    const codes = await Promise.all(threads.map((thread) => once(thread, "exit")));
    expect(codes.flat()).to.deep.equal([0, 0]);
    expect(new Int32Array(count)[0]).to.equal(400);
  });
});
