import { EventEmitter } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";

import { expect } from "chai";

import { BATCHES_AT_ONCE, WAITING_BATCHES } from "../../../api/config/limits.ts";
import { ApiError } from "../../../api/domain/error-codes.ts";
import { CallSlots } from "../../../api/v1/call-slots.ts";
import { listenOnLoopback } from "../../../scripts/scene/loopback.ts";

const BATCHES = { name: "batches", running: BATCHES_AT_ONCE, waiting: WAITING_BATCHES, hint: "Try again." };

describe("CallSlots", () => {
  let slots: CallSlots;
  let started: string[];
  beforeEach(() => {
    slots = new CallSlots(BATCHES, 60);
    started = [];
  });

  /** Asks for a slot. @returns a function that frees it once it was given. */
  function ask(app: string, name = app): () => Promise<void> {
    const slot = slots.take(app).then(({ free }) => {
      started.push(name);
      return free;
    });
    // A batch that a test leaves waiting is refused after that test, when nobody looks at it any more.
    slot.catch(() => undefined);
    return async () => {
      (await slot)();
    };
  }

  /** Expects that these have started, in this order, and no others. After heavy work, the slots let some turns pass first. */
  async function expectStarted(names: readonly string[]): Promise<void> {
    while (started.length < names.length) await setImmediate();
    await setImmediate();
    expect(started).to.deep.equal(names);
  }

  it("gives each app its share, also while another one has batches waiting", async () => {
    const free = ask("busy", "busy-1");
    ask("busy", "busy-2");
    ask("other");
    await expectStarted(["busy-1", "other"]);
    await free();
    await expectStarted(["busy-1", "other", "busy-2"]);
  });

  it("gives no more than the most of all apps, and then the first that waits", async () => {
    const apps = Array.from({ length: BATCHES_AT_ONCE.most + 2 }, (_, index) => `app-${index.toString()}`);
    const [first] = apps.map((app) => ask(app));
    await expectStarted(apps.slice(0, BATCHES_AT_ONCE.most));
    await first?.();
    await expectStarted(apps.slice(0, BATCHES_AT_ONCE.most + 1));
  });

  it("refuses a batch when too many of the app wait, and none of another app", async () => {
    for (let asked = 0; asked < BATCHES_AT_ONCE.ofApp + WAITING_BATCHES.ofApp; asked++) ask("busy");
    const refused: unknown = await slots.take("busy").catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(ApiError).and.to.include({ errorCode: "unavailable", retryAfter: 5 });
    ask("other");
    await expectStarted(["busy", "other"]);
  });

  it("bounds how many wait in all, and keeps places for apps that have none waiting", async () => {
    const { shared, ofApp, most } = WAITING_BATCHES;
    const refused = (app: string) => slots.take(app).catch((error: unknown) => error);
    for (let app = 0; app < BATCHES_AT_ONCE.most; app++) ask(`running-${app.toString()}`);
    let waiting = 0;
    for (let app = 0; waiting < shared - 1; app++) {
      for (let asked = 0; asked < ofApp && waiting < shared - 1; asked++, waiting++) {
        // As long as the app has fewer than are left.
        if (asked >= shared - waiting) break;
        ask(`app-${app.toString()}`);
      }
    }
    expect(await refused("app-0"))
      .to.be.instanceOf(ApiError)
      .and.to.include({ errorCode: "unavailable" });
    for (; waiting < most; waiting++) ask(`new-${waiting.toString()}`);
    expect(await refused("one-more"))
      .to.be.instanceOf(ApiError)
      .and.to.have.property("message")
      .that.matches(/of all apps/);
  });

  it("refuses a batch that waits too long, and gives its place to the next", async () => {
    slots = new CallSlots(BATCHES, 0.02);
    const free = ask("busy", "busy-1");
    const late: unknown = await slots.take("busy").catch((error: unknown) => error);
    expect(late).to.be.instanceOf(ApiError).and.to.include({ errorCode: "unavailable", retryAfter: 5 });
    expect(String(late)).to.contain("within 0.02 seconds");
    await free();
    ask("busy", "busy-3");
    await expectStarted(["busy-1", "busy-3"]);
  });

  it("does not wait for a call that was closed", async () => {
    const free = ask("busy", "busy-1");
    const response = new EventEmitter();
    const gone = slots.take("busy", response).catch((error: unknown) => error);
    ask("busy", "busy-3");
    response.emit("close");
    expect(await gone).to.be.instanceOf(ApiError);
    await free();
    await expectStarted(["busy-1", "busy-3"]);
  });

  it("gives the place of a call that was closed to another", async () => {
    for (let asked = 0; asked < BATCHES_AT_ONCE.ofApp; asked++) ask("busy");
    for (let asked = 0; asked <= WAITING_BATCHES.ofApp; asked++) {
      const response = new EventEmitter();
      const gone = slots.take("busy", response).catch((error: unknown) => error);
      response.emit("close");
      expect(await gone).to.have.property("errorCode", "request_timeout");
    }
  });

  it("does not listen to the response of a call that has begun", async () => {
    const free = ask("busy");
    const response = new EventEmitter();
    const waited = slots.take("busy", response);
    expect(response.listenerCount("close")).to.equal(1);
    await free();
    await waited;
    expect(response.listenerCount("close")).to.equal(0);
  });

  it("says whether a call had to wait", async () => {
    const first = await slots.take("busy");
    const second = slots.take("busy");
    first.free();
    expect([first.waited, (await second).waited]).to.deep.equal([false, true]);
  });

  describe("with many calls", () => {
    /** Lets calls begin and end, each after its milliseconds of work. @returns how many began in each turn of the event loop. */
    async function turnsOf(calls: readonly [app: string, work: number][]): Promise<{ all: number; heavy: number }[]> {
      slots = new CallSlots({ ...BATCHES, running: { shared: 16, ofApp: 4, most: 64 }, waiting: MANY }, 60);
      const turns = [{ all: 0, heavy: 0 }];
      let left = calls.length;
      const handled = calls.map(async ([app, work]) => {
        const { free } = await slots.take(app);
        for (const end = performance.now() + work; performance.now() < end;);
        turns.at(-1)!.all += 1;
        if (work > 0) turns.at(-1)!.heavy += 1;
        left -= 1;
        free();
      });
      for (; left > 0; turns.push({ all: 0, heavy: 0 })) await setImmediate();
      await Promise.all(handled);
      return turns;
    }
    const MANY = { shared: 4_000, ofApp: 2_000, most: 5_000 };
    const HEAVY = 30;

    it("begins light ones together, but leaves the process free again and again", async () => {
      // On a busy machine anything may take long, and then they begin one by one.
      let most = 0;
      for (let tries = 0; most < 16 && tries < 100; tries++) {
        const turns = await turnsOf(Array.from({ length: 200 }, () => ["busy", 0]));
        most = Math.max(...turns.map(({ all }) => all));
        expect(most).to.be.at.most(20);
      }
      expect(most).to.be.at.least(16);
    });

    const mixes: [string, [app: string, work: number][]][] = [
      ["of one app", Array.from({ length: 24 }, (_, n) => ["busy", n % 5 === 4 ? 0 : HEAVY])],
      ["of another app", Array.from({ length: 24 }, (_, n) => (n % 2 === 0 ? ["busy", HEAVY] : ["other", 0]))],
    ];
    for (const [title, calls] of mixes) {
      it(`begins two heavy ones in a turn at most, also between light ones ${title}`, async () => {
        const turns = (await turnsOf(calls)).filter(({ all }) => all > 0).map(({ heavy }) => heavy);
        // The first ones get a slot at once, before anything is known of their work.
        expect(turns[0]).to.be.at.most(6);
        for (const heavy of turns.slice(1)) expect(heavy).to.be.at.most(2);
      });
    }
  });

  // Node accepts one connection in each turn of the event loop.
  it("lets the process accept other callers after heavy work, before the next call begins", async () => {
    let accepted = 0;
    const server = createServer(() => {
      accepted += 1;
    });
    const { port, stop } = await listenOnLoopback(server);
    const callers: Socket[] = [];
    try {
      await slots.take("busy");
      for (let count = 0; count < 10; count++) callers.push(connect(port, "127.0.0.1"));
      for (const end = performance.now() + 50; performance.now() < end;);
      await slots.take("other");
      expect(accepted).to.be.at.least(2);
    } finally {
      for (const caller of callers) caller.destroy();
      await stop();
    }
  });
});
