import { expect } from "chai";

import { ChainUnavailable, classifyBroadcast, RpcError } from "../../../api/chain/errors.ts";
import { BROADCAST_ERRORS } from "../support/broadcast-errors.ts";

describe("classifyBroadcast", () => {
  for (const [name, message, answer] of BROADCAST_ERRORS) {
    it(`reads "${name}" as ${answer}`, () => {
      for (const code of [-32_000, -32_003, -32_010])
        expect(classifyBroadcast(new RpcError(code, message, null))).to.equal(answer);
    });
  }

  it("says of a node that does not answer that it does not", () => {
    expect(classifyBroadcast(new ChainUnavailable("the node cannot be reached"))).to.equal("no-answer");
  });
});
