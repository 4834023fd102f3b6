import { expect } from "chai";

import { mergeRequests, toReadAgain } from "../../console/screens/merge-requests.ts";
import type { Request } from "../../console/screens/request-state.ts";

const TEMPLATE: Request = {
  request_id: "",
  type: "mint",
  status: "pending",
  reference: null,
  nft_collection: null,
  nft_token_id: null,
  transaction_hash: null,
  block_number: null,
  gas_used: null,
  fee_wei: null,
  error_code: null,
  error_message: null,
  errors: null,
  created_at: "2030-01-31T12:00:00.000Z",
  updated_at: "2030-01-31T12:00:00.000Z",
};

function request(id: string, status: Request["status"] = "pending"): Request {
  return { ...TEMPLATE, request_id: id, status };
}

function shown(requests: readonly Request[]): string[] {
  return requests.map(({ request_id, status }) => `${request_id} ${status}`);
}

describe("mergeRequests", () => {
  const list = [request("c"), request("b"), request("a")];

  it("replaces what has changed and keeps the order", () => {
    const merged = mergeRequests(list, [request("c", "processing"), request("b")], [request("a", "completed")], null);
    expect(shown(merged)).to.deep.equal(["c processing", "b pending", "a completed"]);
  });

  it("puts new requests first, the newest before the others", () => {
    const merged = mergeRequests(list, [request("e"), request("d"), request("c")], [], null);
    expect(shown(merged)).to.deep.equal(["e pending", "d pending", "c pending", "b pending", "a pending"]);
  });

  it("drops what no longer has the state of the filter", () => {
    const merged = mergeRequests(list, [request("b"), request("a")], [request("c", "failed")], "pending");
    expect(shown(merged)).to.deep.equal(["b pending", "a pending"]);
  });
});

describe("toReadAgain", () => {
  it("names the changed requests of the list that are not on the first page", () => {
    const list = [request("d"), request("c"), request("b"), request("a")];
    expect(toReadAgain(list, [request("d")], new Set(["d", "b", "elsewhere"]))).to.deep.equal(["b"]);
  });
});
