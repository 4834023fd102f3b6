import { expect } from "chai";

import { MAX_TOKEN_ID, toWireInteger } from "../../../api/domain/numbers.ts";
import { isFinal, REQUEST_STATUSES, statusesBefore } from "../../../api/domain/request.ts";

describe("the states of a request", () => {
  it("have these steps and no others", () => {
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
  it("gives a number while JSON readers keep it exact, and text above", () => {
    expect(["0", "9007199254740991", "9007199254740992", MAX_TOKEN_ID].map(toWireInteger)).to.deep.equal([
      0,
      9007199254740991,
      "9007199254740992",
      "115792089237316195423570985008687907853269984665640564039457584007913129639935",
    ]);
  });
});
