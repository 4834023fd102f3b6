import { EventEmitter, once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";

import { expect } from "chai";

import { BATCHES_AT_ONCE, READS_AT_ONCE, WAITING_BATCHES, WAITING_READS } from "../../../api/config/limits.ts";
import { ApiError } from "../../../api/domain/error-codes.ts";
import { Gate, type Place } from "../../../api/v1/gate.ts";
import { callFrom } from "../../../scripts/scene/callers.ts";
import { eventually } from "../../support/eventually.ts";
import { addApp } from "../support/api.ts";
import { addCollection, addMint, addWallet } from "../support/api-rows.ts";
import { useApi } from "../support/use-api.ts";

const BATCHES = {
  name: "batches",
  running: BATCHES_AT_ONCE,
  waiting: WAITING_BATCHES,
  hint: "Try again.",
  seconds: 60,
  arrivals: { count: 0 },
};

/**
 * Callers in a thread of their own, so that reading the answers does not delay the service. Each calls again when it has its answer.
 * @param callers of each page
 */
async function startFlood(url: string, pages: readonly { path: string; token: string }[], callers: number) {
  const worker = new Worker(new URL("support/flood.ts", import.meta.url), { workerData: { url, pages, callers } });
  await once(worker, "message");
  return {
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}

describe("Gate", () => {
  let gate: Gate;
  let started: string[];
  beforeEach(() => {
    gate = new Gate(BATCHES);
    started = [];
  });

  /** Asks for a place. @returns a function that leaves it once it was given. */
  function ask(app: string, name = app): () => Promise<void> {
    const place = gate.enter(app).then(({ leave }) => {
      started.push(name);
      return () => {
        leave(0);
      };
    });
    // A batch that a test leaves waiting is refused after that test, when nobody looks at it any more.
    place.catch(() => undefined);
    return async () => {
      (await place)();
    };
  }

  /** Expects that these have started, in this order, and no others. Calls that wait begin some turns of the event loop later. */
  async function expectStarted(names: readonly string[]): Promise<void> {
    for (let turn = 0; started.length < names.length && turn < 1_000; turn++) await setImmediate();
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

  it("lets connections and calls arrive before calls that wait begin, but not for ever", async () => {
    const arrivals = { count: 0 };
    gate = new Gate({ ...BATCHES, arrivals });
    const free = ask("busy", "busy-1");
    ask("busy", "busy-2");
    await expectStarted(["busy-1"]);
    await free();
    for (let turn = 0; turn < 40; turn++) {
      arrivals.count += 1;
      await setImmediate();
    }
    expect(started).to.deep.equal(["busy-1"]);
    for (let turn = 0; turn < 40; turn++) {
      arrivals.count += 1;
      await setImmediate();
    }
    expect(started).to.deep.equal(["busy-1", "busy-2"]);
  });

  it("handles as many calls of an app at a time as the size of its answers allows, and always one", async () => {
    gate = new Gate({ ...BATCHES, running: READS_AT_ONCE, waiting: WAITING_READS });
    let running: Place[] = [];
    /** Ends what runs, with answers of so many bytes. @returns how many calls run then. */
    const end = async (bytes: number) => {
      const ended = running;
      running = [];
      for (const { leave } of ended) leave(bytes);
      for (let turn = 0; turn < 100; turn++) await setImmediate();
      return running.length;
    };
    // Some are left waiting, and are refused after the test.
    const begin = () =>
      gate.enter("busy").then(
        (place) => running.push(place),
        () => null,
      );
    for (let calls = 0; calls < 100; calls++) void begin();
    expect(await end(0), "as long as no size is known").to.equal(4);
    expect([await end(1_000), await end(4_194_304), await end(100_000_000), await end(1_000)]).to.deep.equal([
      16, 2, 1, 16,
    ]);
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
    const refused: unknown = await gate.enter("busy").catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(ApiError).and.to.include({ errorCode: "unavailable", retryAfter: 5 });
    ask("other");
    await expectStarted(["busy", "other"]);
  });

  it("bounds how many wait in all, and keeps places for apps that have none waiting", async () => {
    const { shared, ofApp, most } = WAITING_BATCHES;
    const refused = (app: string) => gate.enter(app).catch((error: unknown) => error);
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
    gate = new Gate({ ...BATCHES, seconds: 0.02 });
    const free = ask("busy", "busy-1");
    const late: unknown = await gate.enter("busy").catch((error: unknown) => error);
    expect(late).to.be.instanceOf(ApiError).and.to.include({ errorCode: "unavailable", retryAfter: 5 });
    expect(String(late)).to.contain("within 0.02 seconds");
    await free();
    ask("busy", "busy-3");
    await expectStarted(["busy-1", "busy-3"]);
  });

  it("does not wait for a call that was closed", async () => {
    const free = ask("busy", "busy-1");
    const response = new EventEmitter();
    const gone = gate.enter("busy", response).catch((error: unknown) => error);
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
      const gone = gate.enter("busy", response).catch((error: unknown) => error);
      response.emit("close");
      expect(await gone).to.have.property("errorCode", "request_timeout");
    }
  });

  it("does not listen to the response of a call that has begun", async () => {
    const free = ask("busy");
    const response = new EventEmitter();
    const waited = gate.enter("busy", response);
    expect(response.listenerCount("close")).to.equal(1);
    await free();
    await waited;
    expect(response.listenerCount("close")).to.equal(0);
  });

  it("says whether a call had to wait", async () => {
    const first = await gate.enter("busy");
    const second = gate.enter("busy");
    first.leave(0);
    expect([first.waited, (await second).waited]).to.deep.equal([false, true]);
  });

  it("takes back the places of calls that wait too long, and of calls that were closed", async () => {
    gate = new Gate({ ...BATCHES, seconds: 0.01 });
    const first = await gate.enter("busy");
    for (let round = 0; round < 3; round++) {
      const responses = Array.from({ length: WAITING_BATCHES.ofApp / 2 }, () => new EventEmitter());
      const late = Array.from({ length: WAITING_BATCHES.ofApp }, (_, index) => gate.enter("busy", responses[index]));
      for (const response of responses) response.emit("close");
      for (const { status } of await Promise.allSettled(late)) expect(status).to.equal("rejected");
    }
    first.leave(0);
    const next = await gate.enter("busy");
    expect(next.waited).to.equal(false);
    next.leave(0);
  });

  describe("given three apps that flood the service over HTTP", () => {
    const api = useApi();
    /** Callers of each of the three apps, which ask for pages of 2 MB. */
    const FLOOD = 40;
    /** How many of them are answered before a call of another app, at most: half of them. */
    const MEANWHILE = (3 * FLOOD) / 2;

    it("answers each call of a fourth app before most of theirs", async () => {
      const collection = await addCollection(api);
      const metadata = { description: "a".repeat(2_000_000) };
      const apps = [api.app, await addApp(api, "third"), await addApp(api, "fourth")];
      const pages: { path: string; token: string }[] = [];
      for (const [index, { id, token }] of apps.entries()) {
        const to = await addWallet(api, token);
        await addMint(api, { contract: collection, to, tokenId: index + 1, metadata, app: id });
        pages.push({ path: `/v1/accounts/${to}`, token });
      }
      // As the service counts: its callers may read answers long after it has sent them.
      const answered = () => api.log.filter((line) => line.includes('"url":"/v1/accounts/0x')).length;
      const { count } = api.arrivals;
      await using _flood = await startFlood(api.baseUrl, pages, FLOOD);
      // Each has connected and called. Node accepts connections one by one, whoever they are from.
      await eventually(() => api.arrivals.count - count >= 2 * pages.length * FLOOD || undefined);
      const { token } = api.other;
      for (let calls = 0; calls < 3; calls++) {
        const before = answered();
        const { status } = await callFrom(api.baseUrl, { method: "GET", path: "/v1/collections", token });
        expect(status).to.equal(200);
        expect(answered() - before, "answers to the flood meanwhile").to.be.at.most(MEANWHILE);
      }
      // The flood goes on.
      const last = answered();
      await eventually(() => answered() > last || undefined);
    });
  });
});
