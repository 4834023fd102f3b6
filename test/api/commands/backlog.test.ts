import { expect } from "chai";

import { FairShares } from "../../../api/shared/fair-shares.ts";
import { counterKeys, readCounter } from "../../../api/store/db/counters.ts";
import { type MediaJob, leaseMediaJobs } from "../../../api/store/media/media-jobs.ts";
import {
  acceptMediaResult,
  endMediaJob,
  mediaFailure,
  type MediaResult,
} from "../../../api/store/media/media-results.ts";
import { hostContent } from "../../../api/store/media/media.ts";
import { addCollection } from "../support/api-rows.ts";
import { addApp, type Answer, startApi, type Tenant, type TestApi } from "../support/api.ts";
import { expectAccepted, expectRefusal } from "../support/expect.ts";
import { failRequest } from "../support/fail-request.ts";
import { randomAddress } from "../support/rows.ts";
import { taker } from "../../support/taker.ts";

describe("the shared backlog", () => {
  let api: TestApi;
  const collections = new Map<string, string>();

  async function start(limits: { backlog?: number; mediaBacklog?: number }): Promise<void> {
    api = await startApi({ limits });
    collections.clear();
  }
  afterEach(() => api.close());

  async function mint(app: Tenant, fields: object = {}): Promise<Answer> {
    const collection = collections.get(app.id) ?? (await addCollection(api, { app: app.id }));
    collections.set(app.id, collection);
    const body = { collection_address: collection, to_address: randomAddress(), ...fields };
    return api.post("/v1/nfts", body, { token: app.token });
  }
  /** Sends all calls at once, so that they are decided in groups. @returns how many were accepted. */
  async function mints(app: Tenant, count: number, fields: object = {}): Promise<number> {
    const first = await mint(app, fields);
    const rest = await Promise.all(Array.from({ length: count - 1 }, () => mint(app, fields)));
    return [first, ...rest].filter(({ status }) => status === 200).length;
  }
  const MEDIA = { image: "https://example.com/cat.png", copy_media: true };

  /** Ends a request that was not sent. */
  const end = (id: string) => failRequest(api, id, "media_unavailable");
  const total = (key: string) => readCounter(api.database.read, key);

  function expectFull(answer: Answer, message: RegExp): void {
    expectRefusal(answer, 503, "unavailable");
    expect(Number(answer.headers.get("retry-after"))).to.be.greaterThan(0);
    expect(JSON.parse(answer.text)).to.have.property("message").that.matches(message);
  }

  describe("given one app fills it", () => {
    beforeEach(() => start({ backlog: 20 }));

    it("lets it use everything but the reserve, exactly, and takes those of others, each up to what is left", async () => {
      expect(await mints(api.app, 30)).to.equal(16);
      expect(await total(counterKeys.backlog())).to.equal(16);
      expectFull(await mint(api.app), /this app already uses its share/);
      expect(await mints(api.other, 10)).to.equal(2);
      expectFull(await mint(api.other), /this app already uses its share/);
      for (const name of ["third", "fourth"]) expect(await mints(await addApp(api, name), 10)).to.equal(1);
      expectFull(await mint(await addApp(api, "fifth")), /of all apps/);
    });

    it("takes its requests again as soon as some have ended", async () => {
      const id = expectAccepted(await mint(api.app));
      await mints(api.app, 30);
      await end(id);
      expect(await mints(api.app, 3)).to.equal(1);
    });
  });

  describe("given calls of two apps in one group", () => {
    beforeEach(() => start({ backlog: 10 }));

    it("accepts as many as there is room for", async () => {
      await mint(api.app);
      await mint(api.other);
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, index) => mint(index % 2 === 0 ? api.app : api.other)),
      );
      const accepted = answers.filter(({ status }) => status === 200).length;
      expect(await total(counterKeys.backlog())).to.equal(accepted + 2);
      expect(accepted + 2).to.be.within(8, 10);
    });
  });

  describe("given a limit of 1", () => {
    beforeEach(() => start({ backlog: 1 }));

    it("takes one request of any app", async () => {
      expect(await mints(api.app, 3)).to.equal(1);
      expectFull(await mint(api.other), /of all apps/);
    });
  });

  describe("given requests that wait for media", () => {
    beforeEach(() => start({ backlog: 10, mediaBacklog: 3 }));

    it("refuses more than the limit of their app, and nothing else", async () => {
      expect(await mints(api.app, 10, MEDIA)).to.equal(3);
      expectFull(await mint(api.app, MEDIA), /of this app wait for their media/);
      expectAccepted(await mint(api.app));
      expectAccepted(await mint(api.other, MEDIA));
    });

    it("counts them apart from the backlog until their media are there", async () => {
      await mints(api.app, 2, MEDIA);
      expect(await total(counterKeys.backlog())).to.equal(0);
      expect(await total(counterKeys.mediaBacklog(api.app.id))).to.equal(2);
      const { taken: jobs } = await api.database.write((trx) =>
        leaseMediaJobs(trx, {
          now: 1,
          ...taker(),
          leaseUntil: 100,
          shares: new FairShares({ shared: 20, ofApp: 9, most: 20 }),
        }),
      );
      const endJob = (job: MediaJob | undefined, result: MediaResult) =>
        api.database.write(async (trx) => {
          await endMediaJob(trx, job!, result);
          await acceptMediaResult(trx, job!.request.id, 2);
        });
      await api.database.write((trx) => hostContent(trx, [{ cid: "cid", type: "image/png", size: 1 }], [], 2));
      await endJob(jobs[0], { kind: "files", cids: { image: "cid" } });
      expect(await total(counterKeys.mediaBacklog(api.app.id))).to.equal(1);
      expect(await total(counterKeys.backlog())).to.equal(1);
      expect(await total(counterKeys.backlogOfApp(api.app.id))).to.equal(1);
      const failure = mediaFailure({ errorCode: "media_unavailable", field: "image", message: "no" });
      await endJob(jobs[1], failure);
      // A second result for the same job changes nothing.
      await endJob(jobs[1], failure);
      expect(await total(counterKeys.mediaBacklog(api.app.id))).to.equal(0);
      expect(await total(counterKeys.backlog())).to.equal(1);
      await end(jobs[0]!.request.id);
      expect(await total(counterKeys.backlog())).to.equal(0);
      expect(await total(counterKeys.backlogOfApp(api.app.id))).to.equal(0);
    });
  });
});
