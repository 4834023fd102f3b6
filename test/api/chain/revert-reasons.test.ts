import { expect } from "chai";

import { abi } from "../../../api/chain/abi.ts";
import { decodeRevert } from "../../../api/chain/codec/decode.ts";
import type { Command } from "../../../api/domain/command.ts";
import { creation, randomAddress } from "../support/rows.ts";

const SOMEBODY = randomAddress();

describe("decodeRevert", () => {
  const cases: [string, string, string, string][] = [
    [
      "a custom error of a collection",
      abi.erc721.encodeErrorResult("ERC721InvalidReceiver", [SOMEBODY]),
      "receiver_rejected",
      `ERC721InvalidReceiver(${SOMEBODY})`,
    ],
    [
      "the end of the supply",
      abi.erc721.encodeErrorResult("ERC721ExceededMaxSupply", [3]),
      "supply_exceeded",
      "ERC721ExceededMaxSupply(3)",
    ],
    [
      "an id that exists",
      abi.erc1155.encodeErrorResult("ERC1155AlreadyCreated", [7]),
      "token_already_exists",
      "ERC1155AlreadyCreated(7)",
    ],
    ["no reason", "0x", "execution_reverted", "The contract call reverted without a reason."],
    ["half a selector", "0x0102", "execution_reverted", "The contract call reverted with unknown data: 0x0102."],
    // Error(string) over the bytes ff fe, which are not UTF-8.
    [
      "text that is not UTF-8",
      `0x08c379a0${"20".padStart(64, "0")}${"02".padStart(64, "0")}${"fffe".padEnd(64, "0")}`,
      "execution_reverted",
      `The contract call reverted with unknown data: 0x08c379a0${"0".repeat(62)}20.`,
    ],
    // Error(string) that says to be longer than all memory.
    [
      "a length that cannot be",
      `0x08c379a0${"20".padStart(64, "0")}${"f".repeat(64)}`,
      "execution_reverted",
      `The contract call reverted with unknown data: 0x08c379a0${"0".repeat(62)}20.`,
    ],
    [
      "a known selector with its arguments cut",
      "0x64a0ae92ff",
      "execution_reverted",
      "The contract call reverted with unknown data: 0x64a0ae92ff.",
    ],
  ];
  for (const [what, reason, errorCode, message] of cases) {
    it(`reads ${what}`, () => {
      expect(decodeRevert(reason, creation({}))).to.deep.equal({
        errorCode,
        errors: [{ field: "transaction", code: errorCode, message }],
      });
    });
  }

  it("attributes an unknown error to the receiver if the call runs a receiver's hook", () => {
    const [collection, to] = [randomAddress(), randomAddress()];
    const transfer = {
      kind: "transfer",
      contractType: "ERC721",
      from: SOMEBODY,
      to,
      tokenId: "1",
      quantity: "1",
    } as const;
    const own: Command[] = [
      { kind: "mint-erc721", collection, to, metadata: null },
      { ...transfer, contract: collection, foreign: false },
    ];
    const foreign: Command = { ...transfer, contract: collection, foreign: true };
    const words = [
      abi.erc721.encodeErrorResult("Error(string)", ["no"]),
      abi.erc721.encodeErrorResult("Panic(uint256)", [1]),
      "0x12345678",
    ];
    for (const reason of words) {
      for (const command of own) expect(decodeRevert(reason, command).errorCode, reason).to.equal("receiver_rejected");
      expect(decodeRevert(reason, foreign).errorCode, reason).to.equal("execution_reverted");
    }
    for (const command of own) expect(decodeRevert("0x", command).errorCode).to.equal("execution_reverted");
  });

  it("removes NUL from the stored message", () => {
    const reason = `0x08c379a0${"20".padStart(64, "0")}${"03".padStart(64, "0")}${"610062".padEnd(64, "0")}`;
    expect(decodeRevert(reason, creation({})).errors[0]?.message).to.equal("Error(a\ufffdb)");
  });
});
