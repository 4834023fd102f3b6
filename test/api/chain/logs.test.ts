import { AbiCoder, zeroPadValue } from "ethers";
import { expect } from "chai";
import fc from "fast-check";

import type { RawLog } from "../../../api/chain/query-logs.ts";
import { abi } from "../../../api/chain/abi.ts";
import {
  decodeCollectionEvent,
  decodeMoves,
  decodeRelayEvent,
  MOVE_TOPICS,
  moveCountOf,
} from "../../../api/chain/codec/decode.ts";
import { hashOf, randomAddress } from "../support/rows.ts";

const [CONTRACT, ALICE, BOB] = [randomAddress(), randomAddress(), randomAddress()];
const NOBODY = "0x0000000000000000000000000000000000000000";
const [TRANSFER = "", SINGLE = "", BATCH = ""] = MOVE_TOPICS;
const POSITION = { blockNumber: 4, transactionHash: hashOf("t"), logIndex: 2 };

function topic(value: string): string {
  return zeroPadValue(value, 32).toLowerCase();
}

function word(value: bigint): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

function log(topics: string[], data = "0x"): RawLog {
  return { address: CONTRACT, topics, data, blockHash: hashOf("b"), ...POSITION };
}

function encode(types: string[], values: unknown[]): string {
  return AbiCoder.defaultAbiCoder().encode(types, values);
}

describe("decodeMoves", () => {
  const found = (one: RawLog) =>
    decodeMoves(one).map(({ tokenId, quantity, from, to, subIndex }) => [tokenId, quantity, from, to, subIndex]);
  const most = 2n ** 256n - 1n;

  it("decodes mints, transfers and burns, up to the largest id and quantity", () => {
    expect(found(log([TRANSFER, topic(NOBODY), topic(ALICE), word(most)]))).to.deep.equal([
      [most.toString(), "1", null, ALICE, 0],
    ]);
    expect(
      found(log([SINGLE, topic(BOB), topic(ALICE), topic(NOBODY)], encode(["uint256", "uint256"], [3, most]))),
    ).to.deep.equal([["3", most.toString(), ALICE, null, 0]]);
    const batch = encode(
      ["uint256[]", "uint256[]"],
      [
        [1, 2, 1],
        [5, 0, 6],
      ],
    );
    expect(found(log([BATCH, topic(BOB), topic(ALICE), topic(BOB)], batch))).to.deep.equal([
      ["1", "11", ALICE, BOB, 0],
    ]);
  });

  const nothing: [string, RawLog][] = [
    ["an ERC-20 transfer", log([TRANSFER, topic(ALICE), topic(BOB)], word(5n))],
    [
      "arrays of unequal length",
      log([BATCH, topic(BOB), topic(ALICE), topic(BOB)], encode(["uint256[]", "uint256[]"], [[1, 2], [5]])),
    ],
    [
      "an array that says to be endless",
      log(
        [BATCH, topic(BOB), topic(ALICE), topic(BOB)],
        `${encode(["uint256", "uint256"], [64, 96])}${"f".repeat(64)}`,
      ),
    ],
    ["no data at all", log([SINGLE, topic(BOB), topic(ALICE), topic(BOB)])],
    ["no topics at all", log([])],
    [
      "copies of which there are none",
      log([SINGLE, topic(BOB), topic(ALICE), topic(BOB)], encode(["uint256", "uint256"], [1, 0])),
    ],
  ];
  for (const [what, one] of nothing) {
    it(`finds nothing in ${what}`, () => {
      expect(decodeMoves(one)).to.deep.equal([]);
    });
  }

  it("folds a batch to one move for each id, in the place of its first copies, with the exact sum", () => {
    const pairs = fc.array(
      fc.tuple(fc.bigInt({ min: 0n, max: 3n }), fc.oneof(fc.bigInt({ min: 0n, max: 2n }), fc.constant(most))),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(pairs, (moves) => {
        const arrays = [moves.map(([tokenId]) => tokenId), moves.map(([, quantity]) => quantity)];
        const one = log([BATCH, topic(BOB), topic(ALICE), topic(BOB)], encode(["uint256[]", "uint256[]"], arrays));
        const sums = new Map<string, bigint>();
        for (const [tokenId, quantity] of moves)
          if (quantity > 0n) sums.set(tokenId.toString(), (sums.get(tokenId.toString()) ?? 0n) + quantity);
        const first = (id: string) => moves.findIndex(([one, quantity]) => one.toString() === id && quantity > 0n);
        expect(found(one)).to.deep.equal(
          [...sums]
            .map(([id, sum]) => [id, sum.toString(), ALICE, BOB, first(id)])
            .sort((a, b) => +(a[4] ?? 0) - +(b[4] ?? 0)),
        );
        expect(moveCountOf(one)).to.equal(Math.max(1, moves.length));
      }),
      { numRuns: 300 },
    );
  });

  it("counts every log, by its moves and by its size", () => {
    const numbers = Array.from({ length: 100 }, (_, index) => index);
    const data = encode(["uint256[]"], [numbers]);
    // Both arrays are the same bytes.
    const shared = `0x${word(64n).slice(2).repeat(2)}${data.slice(66)}`;
    const batch = (bytes: string) => moveCountOf(log([BATCH, topic(BOB), topic(ALICE), topic(BOB)], bytes));
    expect(batch(shared)).to.equal(100);
    expect(decodeMoves(log([BATCH, topic(BOB), topic(ALICE), topic(BOB)], shared))).to.have.lengthOf(99);
    expect(batch("0x")).to.equal(1);
    expect(batch(`0x${"ff".repeat(64 * 12)}`)).to.equal(10);
    expect(moveCountOf(log([TRANSFER, topic(NOBODY), topic(ALICE), word(1n)]))).to.equal(1);
    expect(moveCountOf(log([TRANSFER, topic(NOBODY), topic(ALICE), word(1n)], `0x${"00".repeat(64 * 12)}`))).to.equal(
      10,
    );
  });

  it("never throws, for any log", () => {
    const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => `0x${Buffer.from(array).toString("hex")}`);
    const word32 = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((array) => `0x${Buffer.from(array).toString("hex")}`);
    const known = [
      ...MOVE_TOPICS,
      abi.erc721.getEvent("BaseURIUpdated").topicHash,
      abi.erc721.getEvent("MinterSet").topicHash,
      abi.erc1155.getEvent("URI").topicHash,
    ];
    fc.assert(
      fc.property(fc.constantFrom(...known), fc.array(word32, { maxLength: 3 }), bytes, (first, topics, data) => {
        const one = log([first, ...topics], data);
        expect(decodeMoves(one)).to.be.an("array");
        expect(moveCountOf(one)).to.be.at.least(Math.max(1, decodeMoves(one).length));
        decodeCollectionEvent(one);
      }),
      { numRuns: 300 },
    );
  });
});

describe("decodeCollectionEvent", () => {
  const event = (
    name: "OwnershipTransferred" | "MinterSet" | "MaxSupplyLowered" | "BaseURIUpdated",
    values: unknown[],
  ) => {
    const { topics, data } = abi.erc721.encodeEventLog(name, values);
    const {
      blockNumber: _b,
      transactionHash: _t,
      logIndex: _l,
      contract: _c,
      ...fields
    } = decodeCollectionEvent(log(topics, data)) ?? expect.fail("not read");
    return fields;
  };

  it("decodes the changes of an owner", () => {
    expect(event("OwnershipTransferred", [ALICE, BOB])).to.deep.equal({ kind: "owner-changed", owner: BOB });
    expect(event("MinterSet", [ALICE, false])).to.deep.equal({ kind: "minter-set", minter: ALICE, allowed: false });
    expect(event("MaxSupplyLowered", [0, 12])).to.deep.equal({ kind: "cap-lowered", maxSupply: 12 });
    expect(event("BaseURIUpdated", ["ipfs://ü/"])).to.deep.equal({ kind: "base-uri-changed", baseUri: "ipfs://ü/" });
  });

  it("treats an unreachable cap as unlimited", () => {
    expect(event("MaxSupplyLowered", [0, 2n ** 53n - 1n])).to.deep.equal({
      kind: "cap-lowered",
      maxSupply: 2 ** 53 - 1,
    });
    expect(event("MaxSupplyLowered", [0, 2n ** 53n])).to.deep.equal({ kind: "cap-lowered", maxSupply: null });
    expect(event("MaxSupplyLowered", [0, 2n ** 64n - 2n])).to.deep.equal({ kind: "cap-lowered", maxSupply: null });
  });

  it("decodes URIs with invalid UTF-8 or NUL as text that every database can store", () => {
    const { topicHash } = abi.erc721.getEvent("BaseURIUpdated");
    expect(decodeCollectionEvent(log([topicHash], encode(["bytes"], ["0x61fffe0062"])))).to.deep.include({
      baseUri: "a\ufffd\ufffd\ufffdb",
    });
    const uri = abi.erc1155.getEvent("URI").topicHash;
    expect(decodeCollectionEvent(log([uri, word(9n)], encode(["bytes"], ["0xff"])))).to.deep.include({
      tokenId: "9",
      uri: "\ufffd",
    });
  });

  it("cuts URIs at 64 KiB", () => {
    const { topicHash } = abi.erc721.getEvent("BaseURIUpdated");
    const long = `0x${"61".repeat(1_000_000)}`;
    expect(decodeCollectionEvent(log([topicHash], encode(["bytes"], [long])))).to.deep.include({
      baseUri: "a".repeat(65_536),
    });
    const uri = abi.erc1155.getEvent("URI").topicHash;
    expect(decodeCollectionEvent(log([uri, word(9n)], encode(["bytes"], [long])))).to.deep.include({
      uri: "a".repeat(65_536),
    });
  });
});

describe("decodeRelayEvent", () => {
  it("decodes the events of a batch and ignores others", () => {
    const read = (name: "BatchExecuted" | "CallFailed" | "CallSkipped" | "OperatorSet", values: unknown[]) => {
      const { topics, data } = abi.relay.encodeEventLog(name, values);
      return decodeRelayEvent(log(topics, data));
    };
    const number = 2n ** 96n - 1n;
    expect(read("BatchExecuted", [3])).to.deep.equal({ kind: "batch-executed", ...POSITION, executed: 3 });
    expect(read("CallFailed", [number, "0x1234"])).to.deep.equal({
      kind: "call-failed",
      ...POSITION,
      number,
      reason: "0x1234",
    });
    expect(read("CallSkipped", [number])).to.deep.equal({
      kind: "call-skipped",
      ...POSITION,
      number,
    });
    expect(read("OperatorSet", [ALICE, true])).to.equal(null);
  });
});
