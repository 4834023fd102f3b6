import { expect } from "chai";

import { type BroadcastAnswer, classifyBroadcast } from "../../../api/chain/broadcast-errors.ts";
import { ChainUnavailable, RpcError } from "../../../api/chain/errors.ts";

/** What nodes say, as they said it. */
const TABLE: [string, number, string, BroadcastAnswer][] = [
  ["Hardhat, the same bytes again", -32000, "Known transaction: 0xabc", "known"],
  ["Anvil, the same bytes again", -32003, "transaction already imported", "known"],
  ["Geth, the same bytes again", -32000, "already known", "known"],
  ["Hardhat, nonce used", -32000, "Nonce too low. Expected nonce to be 3 but got 2.", "nonce-used"],
  [
    "Hardhat's pool, nonce used",
    -32000,
    "Transaction nonce too low. Expected nonce to be at least 3 but got 2.",
    "nonce-used",
  ],
  ["Anvil, nonce used", -32003, "nonce too low", "nonce-used"],
  [
    "Hardhat, replacement",
    -32000,
    "Replacement transaction underpriced. A gasPrice/maxFeePerGas of at least 2 is necessary",
    "underpriced",
  ],
  ["Anvil, replacement", -32003, "replacement transaction underpriced", "underpriced"],
  ["Anvil, base fee", -32003, "max fee per gas less than block base fee", "underpriced"],
  ["Hardhat, no funds", -32000, "Sender doesn't have enough funds to send tx.", "no-funds"],
  ["Anvil, no funds", -32003, "Insufficient funds for gas * price + value", "no-funds"],
  ["Geth, too much gas", -32000, "exceeds block gas limit", "refused"],
  ["a rate limit", -32005, "limit exceeded", "indeterminate"],
  ["anything else", -32603, "internal error", "indeterminate"],
];

describe("classifyBroadcast", () => {
  for (const [name, code, message, answer] of TABLE) {
    it(`reads "${name}" as ${answer}`, () => {
      expect(classifyBroadcast(new RpcError(code, message, null))).to.equal(answer);
    });
  }

  it("treats a node that does not answer as indeterminate", () => {
    expect(classifyBroadcast(new ChainUnavailable("the node cannot be reached"))).to.equal("indeterminate");
  });
});
