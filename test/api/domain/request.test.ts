import { expect } from "chai";

import { MAX_TOKEN_ID, toWireInteger } from "../../../api/domain/token.ts";
import { isFinal, REQUEST_STATUSES, statusesBefore } from "../../../api/domain/request.ts";

describe("the states of a request", () => {
  it("have exactly these steps", () => {
    expect(Object.fromEntries(REQUEST_STATUSES.map((status) => [status, statusesBefore(status)]))).to.deep.equal({
      pending: [],
      processing: ["pending"],
      completed: ["processing"],
      failed: ["pending", "processing"],
    });
    expect(REQUEST_STATUSES.filter(isFinal)).to.deep.equal(["completed", "failed"]);
  });
});

describe("toWireInteger", () => {
  it("returns a number up to 2^53-1, and a decimal string above", () => {
    expect(["0", "9007199254740991", "9007199254740992", MAX_TOKEN_ID].map(toWireInteger)).to.deep.equal([
      0,
      9007199254740991,
      "9007199254740992",
      "115792089237316195423570985008687907853269984665640564039457584007913129639935",
    ]);
  });
});
