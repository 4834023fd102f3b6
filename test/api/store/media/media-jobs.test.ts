import { expect } from "chai";

import { FairShares } from "../../../../api/shared/fair-shares.ts";
import {
  type MediaJob,
  renewMediaJob,
  returnAbandonedJobs,
  returnMediaJob,
  leaseMediaJobs,
} from "../../../../api/store/media/media-jobs.ts";
import {
  acceptMediaResult,
  endMediaJob,
  mediaFailure,
  type MediaFailure,
} from "../../../../api/store/media/media-results.ts";
import { hostContent } from "../../../../api/store/media/media.ts";
import { failUncertain } from "../../../../api/store/reconcile/adopt-lost-batches.ts";
import { compareCounters } from "../../../../api/store/reconcile/compare.ts";
import { counterKeys, readCounter } from "../../../../api/store/db/counters.ts";
import { failWithoutEffect } from "../../../../api/store/requests/request-state.ts";
import { toRequest } from "../../../../api/store/requests/requests.ts";
import { expectAccepted, expectRefusal } from "../../support/expect.ts";
import { addCollection } from "../../support/api-rows.ts";
import { randomAddress } from "../../support/rows.ts";
import { useApi } from "../../support/use-api.ts";
import { taker } from "../../../support/taker.ts";

const IMAGE = "https://example.com/cat.png";
const MEDIA = { image: IMAGE, copy_media: true };

function one(): FairShares {
  return new FairShares({ shared: 2, ofApp: 1, most: 1 });
}

describe("media jobs", () => {
  const api = useApi();
  let collection: string;
  beforeEach(async () => {
    collection = await addCollection(api);
  });

  const mint = async (fields: object) =>
    expectAccepted(
      await api.post("/v1/nfts", { collection_address: collection, to_address: randomAddress(), ...fields }),
    );
  const take = async (now: number, options: { holder?: string; shares?: FairShares } = {}) => {
    const shares = new FairShares({ shared: 20, ofApp: 10, most: 20 });
    const lease = { ...taker(), now, leaseUntil: now + 100, shares, ...options };
    return (await api.database.write((trx) => leaseMediaJobs(trx, lease))).taken;
  };
  const row = (id: string) =>
    api.database.read.selectFrom("requests").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  /** Stores the request of a job with its image copied. @returns whether the job was still the process's own. */
  const finish = (job: MediaJob | undefined, now = 2) => {
    if (job === undefined) throw new Error("no job is due");
    return api.database.write(async (trx) => {
      await hostContent(trx, [{ cid: "cid", type: "image/png", size: 1 }], [], now);
      if (!(await endMediaJob(trx, job, { kind: "files", cids: { image: "cid" } }))) return false;
      return (await acceptMediaResult(trx, job.request.id, now)) !== null;
    });
  };
  const fail = (job: MediaJob | undefined, errorCode: MediaFailure["errorCode"]) =>
    api.database.write(async (trx) => {
      const failure = mediaFailure({ errorCode, field: "image", message: "no" });
      return (await endMediaJob(trx, job!, failure)) && (await acceptMediaResult(trx, job!.request.id, 2)) !== null;
    });

  it("count the metadata as they are with the copied media in them", async () => {
    const storedBytes = () => readCounter(api.database.read, counterKeys.storedBytes(api.app.id));
    const before = await storedBytes();
    await mint(MEDIA);
    expect(await storedBytes()).to.equal(before + JSON.stringify({ image: IMAGE }).length);
    const [job] = await take(1_000);
    await finish(job);
    expect(await storedBytes()).to.equal(before + JSON.stringify({ image: "ipfs://cid" }).length);
    const done = toRequest(await row(job!.request.id));
    const failure = { ok: false, errorCode: "receiver_rejected", errors: null } as const;
    await api.database.write((trx) => failWithoutEffect(trx, [{ request: done, outcome: failure }], 3));
    expect(await storedBytes()).to.equal(before);
  });

  it("end with requests that fail while reconcile adopts an old backup, and the totals stay exact", async () => {
    const ids = [await mint(MEDIA), await mint({})];
    const [job] = await take(1_000);
    const requests = await Promise.all(ids.map(async (id) => toRequest(await row(id))));
    await api.database.write((trx) => failUncertain(trx, requests, 1_001));
    expect((await row(ids[0]!)).status).to.equal("failed");
    expect(await take(10_000)).to.deep.equal([]);
    expect(await finish(job, 1_002)).to.equal(false);
    const totals = await api.database.write((trx) => compareCounters(trx, false));
    expect(totals.filter(({ what }) => what.includes("backlog"))).to.deep.equal([]);
  });

  it("are due at once when their process has ended, and only then", async () => {
    for (let count = 0; count < 3; count++) await mint(MEDIA);
    const [first] = await take(1_000, { holder: "gone", shares: one() });
    const [second] = await take(1_000, { holder: "alive", shares: one() });
    const [third] = await take(1_000, { holder: "gone", shares: one() });
    await api.database.write((trx) => returnMediaJob(trx, third!, 5_000, "counts"));
    const taken = () => api.database.write((trx) => returnAbandonedJobs(trx, (holder) => holder === "gone"));
    expect(await taken()).to.equal(1);
    expect(await taken()).to.equal(0);
    const again = await take(1_000);
    expect(again.map(({ request }) => request.id)).to.deep.equal([first?.request.id]);
    expect(await finish(first)).to.equal(false);
    expect(await finish(second)).to.equal(true);
  });

  it("are alone after a crash, and to be ended after three more", async () => {
    await mint(MEDIA);
    const holder = "other-host/-/1/x";
    let now = 1_000;
    const sorted = async () => {
      const shares = new FairShares({ shared: 20, ofApp: 10, most: 20 });
      const lease = { ...taker(holder), now: (now += 200), leaseUntil: now + 100, shares };
      const { taken, aside } = await api.database.write((trx) => leaseMediaJobs(trx, lease));
      return [taken, aside].map((jobs) => jobs.map(({ crashes }) => crashes));
    };
    for (const crashes of [0, 1, 2, 3]) expect(await sorted()).to.deep.equal([[crashes], []]);
    expect(await sorted()).to.deep.equal([[], [4]]);
  });

  it("exist only for requests with media to copy", async () => {
    for (const fields of [{ image: IMAGE }, { image: IMAGE, copy_media: false }, { name: "x", copy_media: true }]) {
      const id = await mint(fields);
      expect((await row(id)).ready_at, JSON.stringify(fields)).to.not.equal(null);
    }
    expect(await take(1_000)).to.deep.equal([]);
  });

  it("are taken by one process at a time, and by another when that one has ended", async () => {
    const id = await mint(MEDIA);
    const [first] = await take(1_000);
    expect(await take(1_099)).to.deep.equal([]);
    expect(await api.database.write((trx) => renewMediaJob(trx, first!, 1_300))).to.equal(true);
    expect(await take(1_299)).to.deep.equal([]);
    const [second] = await take(1_300);
    expect(second?.fence).to.equal(2);
    // The first process wakes up again. It can no longer change anything.
    expect(await api.database.write((trx) => renewMediaJob(trx, first!, 9_000))).to.equal(false);
    expect(await finish(first)).to.equal(false);
    expect(await fail(first, "media_unavailable")).to.equal(false);
    await api.database.write((trx) => returnMediaJob(trx, first!, 0, "counts"));
    expect(await take(1_350)).to.deep.equal([]);
    expect(await row(id)).to.include({ status: "pending", ready_at: null });
    expect(await finish(second)).to.equal(true);
  });

  it("release the reservation when the media cannot be fetched", async () => {
    const body = { collection_address: await addCollection(api, { cap: 1 }), to_address: randomAddress() };
    const id = await mint({ ...body, ...MEDIA });
    expectRefusal(await api.post("/v1/nfts", body), 422, "supply_exceeded");
    const [job] = await take(1_000);
    const errors = [{ field: "image", code: "media_blocked", message: "no" }];
    expect(await fail(job, "media_blocked")).to.equal(true);
    expect((await api.get(`/v1/requests/${id}`)).body).to.deep.include({
      status: "failed",
      error_code: "media_blocked",
      errors,
    });
    expectAccepted(await api.post("/v1/nfts", body));
  });
});
