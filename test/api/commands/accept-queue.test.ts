import { expect } from "chai";

import { AcceptQueue } from "../../../api/commands/accept-queue.ts";
import type { CheckedCall } from "../../../api/commands/accept.ts";
import type { Answer as AnswerOfCall } from "../../../api/commands/answers.ts";
import { isError } from "../../../api/commands/or-error.ts";
import { DEFAULT_LIMITS, type Limits } from "../../../api/config/limits.ts";
import { ApiError } from "../../../api/domain/error-codes.ts";
import { DatabaseUnavailable } from "../../../api/store/db/errors.ts";
import type { Database } from "../../../api/store/db/database.ts";
import { eventually } from "../../support/eventually.ts";
import { useTestDatabase } from "../../support/use-database.ts";
import { addCollection } from "../support/api-rows.ts";
import { type Answer, startApi, type TestApi } from "../support/api.ts";
import { callsOf, NO_LIMITS } from "../support/items.ts";
import { expectAccepted, expectRefusal } from "../support/expect.ts";
import { addApp, creation, randomAddress } from "../support/rows.ts";

/** Keeps the transactions of other writes from beginning, on both engines, until it is opened. */
class Gate {
  readonly #closed: Promise<unknown>;
  readonly #opened = Promise.withResolvers<null>();

  private constructor(database: Pick<Database, "writeGroup">, begun: () => void) {
    const hold = () => {
      begun();
      return this.#opened.promise;
    };
    // PostgreSQL: as many as run at the same time.
    this.#closed = Promise.all([database.writeGroup(hold), database.writeGroup(hold)]);
  }

  static async close(database: Pick<Database, "writeGroup">): Promise<Gate> {
    const begun = Promise.withResolvers<null>();
    const gate = new Gate(database, () => {
      begun.resolve(null);
    });
    await begun.promise;
    return gate;
  }

  async open(): Promise<void> {
    this.#opened.resolve(null);
    await this.#closed;
  }
}

describe("AcceptQueue", () => {
  describe("given calls of an API", () => {
    let api: TestApi;
    let gate: Gate;
    const collections = new Map<string, string>();
    async function start(limits: Partial<Limits>): Promise<void> {
      api = await startApi({ limits });
      for (const { id } of [api.app, api.other]) collections.set(id, await addCollection(api, { app: id }));
      gate = await Gate.close(api.database);
    }
    afterEach(async () => {
      await gate.open();
      await api.close();
    });

    const to = randomAddress();
    const mint = (app = api.app, headers: Record<string, string> = {}) => {
      const item = { collection_address: collections.get(app.id), to_address: to };
      return api.post("/v1/nfts", item, { token: app.token, headers });
    };
    const mints = async () =>
      (await api.database.read.selectFrom("requests").select("id").where("type", "=", "mint").execute()).length;

    /** Makes calls. @returns their answers, once so many of them were refused. */
    async function calls(app: TestApi["app"], count: number, refused: number): Promise<Promise<Answer>[]> {
      let answered = 0;
      const all = Array.from({ length: count }, async () => {
        const answer = await mint(app);
        answered += 1;
        return answer;
      });
      await eventually(() => Promise.resolve(answered === refused || undefined));
      return all;
    }

    it("refuses an app that has as many calls waiting as places are left, and keeps places for others", async () => {
      await start({ waitingCalls: 10 });
      // Eight places are shared.
      const first = await calls(api.app, 10, 6);
      const second = await calls(api.other, 5, 3);
      expect(await mints()).to.equal(0);
      await gate.open();
      for (const [answers, accepted] of [
        [await Promise.all(first), 4],
        [await Promise.all(second), 2],
      ] as const) {
        expect(answers.filter(({ status }) => status === 200)).to.have.length(accepted);
        const refused = answers.filter(({ status }) => status !== 200);
        for (const answer of refused) {
          expectRefusal(answer, 503, "unavailable");
          expect(answer.headers.get("retry-after")).to.equal("5");
          expect(answer.text).to.contain("Too many calls of this app wait");
        }
      }
      expect(await mints()).to.equal(6);
      expectAccepted(await mint());
    });

    it("refuses what waits too long, stores nothing of it, and accepts it when it is repeated with its key", async () => {
      await start({ waitSeconds: 0.05 });
      const headers = { "idempotency-key": "one" };
      const single = await mint(api.app, headers);
      const items = [1, 2].map(() => ({ collection_address: collections.get(api.app.id), to_address: to }));
      const batch = await api.post("/v1/nfts/batch", { items });
      const change = await api.call("PATCH", `/v1/collections/${collections.get(api.app.id) ?? ""}`, {
        body: { description: "New" },
      });
      for (const refused of [single, batch, change]) {
        expectRefusal(refused, 503, "unavailable");
        expect(refused.headers.get("retry-after")).to.equal("5");
        expect(refused.text).to.contain("could not begin to store the call within 0.05 seconds");
      }
      await gate.open();
      const id = expectAccepted(await eventually(async () => acceptedOr(await mint(api.app, headers))));
      expect(expectAccepted(await eventually(async () => acceptedOr(await mint(api.app, headers))))).to.equal(id);
      // The writes of the refused calls have had their turn.
      await api.database.write(() => Promise.resolve());
      expect(await mints()).to.equal(1);
      const keys = await api.database.read.selectFrom("idempotency_keys").select("key").execute();
      expect(keys).to.deep.equal([{ key: "one" }]);
    });
  });

  describe("given calls of a database", () => {
    const database = useTestDatabase({ per: "block" });
    before(async () => {
      for (const app of ["busy", "quiet"]) await addApp(database, app);
    });

    let ids = 0;
    function callOf(appId: string): CheckedCall {
      const id = `request-${(++ids).toString()}`;
      return callsOf([{ id, appId, type: "collection", command: creation() }])[0]!;
    }
    const idOf = ({ items: [item] }: CheckedCall) => (isError(item) ? "" : (item?.id ?? ""));
    const queueOf = (writes: Pick<Database, "write" | "writeGroup">, limits: Partial<Limits> = {}) =>
      new AcceptQueue({ ...database, ...writes }, NO_LIMITS.sealer, {
        appGasPerDay: null,
        limits: { ...DEFAULT_LIMITS, ...limits },
      });
    const write = <T>(operation: Parameters<Database["write"]>[0]) => database.write(operation) as Promise<T>;
    const isAccepted = ({ results: [item] }: AnswerOfCall) => item !== undefined && !isError(item);
    const refusalOf = (answer: Promise<AnswerOfCall>) => answer.catch((error: unknown) => error);

    it("answers a call whose transaction has begun with its result, however long it takes", async () => {
      const begun = Promise.withResolvers<null>();
      const commit = Promise.withResolvers<null>();
      const slow: Database["writeGroup"] = (operation) =>
        database.writeGroup(async (trx) => {
          const result = await operation(trx);
          // Nothing, when the machine was too slow to begin in time: the call is refused, and made again.
          if (Array.isArray(result) && result.length === 0) return result;
          begun.resolve(null);
          await commit.promise;
          return result;
        });
      const queue = queueOf({ write, writeGroup: slow }, { waitSeconds: 0.05 });
      /** @returns its decision. */
      async function begin(): Promise<{ first: Promise<AnswerOfCall> }> {
        const first = queue.decide(callOf("busy"));
        const isRefused = first.then(
          () => false,
          () => true,
        );
        const hasBegun = begun.promise.then(() => false);
        return (await Promise.race([hasBegun, isRefused])) ? begin() : { first };
      }
      const { first } = await begin();
      // It came later and waits as long as it may: so has the first one.
      const second = await refusalOf(queue.decide(callOf("busy")));
      expect(second).to.be.instanceOf(ApiError).and.to.include({ errorCode: "unavailable", retryAfter: 5 });
      commit.resolve(null);
      expect(isAccepted(await first)).to.equal(true);
    });

    it("accepts a call whose time is over if its transaction begins first, and never stores one that it refuses", async () => {
      // The event loop is busy until the time is over, so the transaction begins before the timer runs.
      const late: Database["write"] = (operation) =>
        database.write((trx) => {
          const end = performance.now() + 100;
          while (performance.now() < end);
          return operation(trx);
        });
      const queue = queueOf({ write: late, writeGroup: late }, { waitSeconds: 0.05 });
      const kinds: Partial<CheckedCall>[] = [{}, { isBatch: true }, { changes: () => Promise.resolve(new Map()) }];
      for (const kind of kinds) {
        await eventually(async () => {
          const call = { ...callOf("busy"), ...kind };
          const answer = await refusalOf(queue.decide(call));
          const stored = await database.read.selectFrom("requests").where("id", "=", idOf(call)).selectAll().execute();
          const isRefused = answer instanceof ApiError && answer.errorCode === "unavailable";
          expect(stored).to.have.length(isRefused ? 0 : 1);
          // It was, when the machine was too slow to begin in time.
          return isRefused ? undefined : isAccepted(answer as AnswerOfCall);
        });
      }
    });

    it("takes the apps in turns, so that one with many calls does not delay another", async () => {
      const queue = queueOf({ write, writeGroup: (operation) => database.writeGroup(operation) });
      const gate = await Gate.close(database);
      const busy = Array.from({ length: 1_200 }, () => callOf("busy"));
      const quiet = callOf("quiet");
      const order: string[] = [];
      const decisions = [...busy, quiet].map(async (call) => {
        const decision = await queue.decide(call);
        order.push(idOf(call));
        return decision;
      });
      await gate.open();
      expect((await Promise.all(decisions)).every(isAccepted)).to.equal(true);
      // In the first group.
      expect(order.indexOf(idOf(quiet))).to.be.within(0, 499);
      expect(order.filter((id) => id !== idOf(quiet))).to.deep.equal(busy.map(idOf));
    });

    it("fails all calls that wait when the database does not begin their transaction, and frees their places", async () => {
      let isDown = true;
      const outage = new DatabaseUnavailable("down");
      const failing: Database["writeGroup"] = (operation) =>
        isDown ? Promise.reject(outage) : database.writeGroup(operation);
      const queue = queueOf({ write, writeGroup: failing }, { waitingCalls: 5 });
      const failed = await Promise.all([
        refusalOf(queue.decide(callOf("busy"))),
        refusalOf(queue.decide(callOf("busy"))),
      ]);
      expect(failed).to.deep.equal([outage, outage]);
      isDown = false;
      const decisions = await Promise.all([queue.decide(callOf("busy")), queue.decide(callOf("busy"))]);
      expect(decisions.every(isAccepted)).to.equal(true);
    });

    it("decides each call of a group alone when the group fails for another reason", async () => {
      let groups = 0;
      const failing: Database["writeGroup"] = (operation) =>
        database.writeGroup(async (trx) => {
          const result = await operation(trx);
          if (++groups === 1) throw new Error("one of them is damaged");
          return result;
        });
      const queue = queueOf({ write, writeGroup: failing });
      const decisions = await Promise.all([queue.decide(callOf("busy")), queue.decide(callOf("busy"))]);
      expect(decisions.every(isAccepted)).to.equal(true);
      expect(groups).to.equal(3);
    });
  });
});

/** @returns undefined while the service is busy. */
function acceptedOr(answer: Answer): Answer | undefined {
  return answer.status === 503 ? undefined : answer;
}
