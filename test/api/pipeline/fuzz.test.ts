import { expect } from "chai";

import { answered, countsTable, fuzz } from "../../fuzz/run.ts";
import { createTestDatabase, type DatabasePlace } from "../../support/database.ts";
import { requestsThatAreLost, startTarget, type Target } from "../../fuzz/target.ts";

/* The short form of `npm run fuzz`. */

const REQUESTS = 1_500;
const SEED = 1;

describe("random and invalid API calls", () => {
  let place: DatabasePlace;
  let target: Target;
  before(async () => {
    place = await createTestDatabase();
    target = await startTarget(place.url);
  });
  after(async () => {
    await target.stop();
    await place.remove();
  });

  it("get documented answers in time and no 500; every accepted request reaches a final status", async () => {
    const report = await fuzz({ ...target, requests: REQUESTS, seed: SEED });
    expect(report.finding, report.finding ?? "").to.equal(null);
    expect(answered(report)).to.equal(REQUESTS);
    // Every operation of the document was called, and many calls were accepted.
    const calls = Object.values(target.conformance.document.paths).flatMap((item) => Object.keys(item));
    expect(report.counts.size, countsTable(report)).to.equal(calls.length);
    expect(report.accepted.size).to.be.at.least(10);
    expect(await requestsThatAreLost(target, report.accepted)).to.deep.equal([]);
  });
});
