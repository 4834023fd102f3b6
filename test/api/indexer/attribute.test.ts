import { expect } from "chai";
import fc from "fast-check";

import { abi } from "../../../api/chain/abi.ts";
import type { RelayEvent } from "../../../api/chain/codec/decode.ts";
import type { Command } from "../../../api/domain/command.ts";
import type { TokenMove } from "../../../api/domain/token.ts";
import { attribute, AttributionError, type TransactionLogs } from "../../../api/indexer/attribute.ts";
import { creation, randomAddress } from "../support/rows.ts";
import type { NumberedRequest } from "../../../api/store/requests/requests.ts";

const [COLLECTION, FOREIGN, ALICE, BOB] = [randomAddress(), randomAddress(), randomAddress(), randomAddress()];
const AT = { transactionHash: "0x01", blockNumber: 5 };

function requestOf(number: number, command: Command, fields: Partial<NumberedRequest> = {}): NumberedRequest {
  return {
    id: `r${number.toString()}`,
    number: BigInt(number),
    command,
    status: "processing",
    outcome: null,
    ...fields,
  } as NumberedRequest;
}
function mint(number: number, to = ALICE): NumberedRequest {
  return requestOf(number, { kind: "mint-erc721", collection: COLLECTION, to, metadata: null });
}

function transfer(number: number, fields: object = {}): NumberedRequest {
  return requestOf(number, {
    kind: "transfer",
    contract: FOREIGN,
    contractType: "ERC721",
    foreign: true,
    from: ALICE,
    to: BOB,
    tokenId: "9",
    quantity: "1",
    ...fields,
  });
}

let position = 0;
function move(fields: Partial<TokenMove>): TokenMove {
  return {
    contract: COLLECTION,
    tokenId: "1",
    quantity: "1",
    from: null,
    to: ALICE,
    subIndex: 0,
    logIndex: position++,
    ...AT,
    ...fields,
  };
}

function closing(executed: number): RelayEvent {
  return { kind: "batch-executed", executed, ...AT, logIndex: position++ };
}

function failure(number: number, reason = "0x"): RelayEvent {
  return { kind: "call-failed", number: BigInt(number), reason, ...AT, logIndex: position++ };
}

function skip(number: number): RelayEvent {
  return { kind: "call-skipped", number: BigInt(number), ...AT, logIndex: position++ };
}

function adoptedMint(number: number, to = ALICE, fields: Partial<NumberedRequest> = {}): NumberedRequest {
  const adopted = { tokenId: null, uri: null };
  return requestOf(number, { kind: "mint-erc721", collection: FOREIGN, to, metadata: null, adopted }, fields);
}

function run(requests: NumberedRequest[], logs: Partial<TransactionLogs>, isRead = true) {
  const { outcomes, untouched, owners, stops } = attribute(
    requests,
    { relay: [], moves: [], created: new Map(), ...logs },
    () => isRead,
  );
  return {
    ...(stops.length === 0 ? {} : { stops: stops.map(({ contract }) => contract) }),
    outcomes: outcomes.map(({ request, outcome }) => [request.id, outcome.ok ? outcome.tokenId : outcome.errorCode]),
    untouched: untouched.map((request) => request.id),
    owners: [...owners.values()].map((request) => request.id),
  };
}

describe("attribute", () => {
  it("attributes the k-th mint log to the k-th successful mint, beside failed, skipped and unreached calls", () => {
    const fates = fc.array(fc.constantFrom("succeeded", "failed", "skipped"), { maxLength: 20 });
    fc.assert(
      fc.property(fates, fc.nat({ max: 3 }), (list, behind) => {
        const requests = Array.from({ length: list.length + behind }, (_, index) => mint(index));
        const relay: RelayEvent[] = [];
        const moves: TokenMove[] = [];
        const expected = list.map((fate, index) => {
          if (fate === "failed") relay.push(failure(index));
          if (fate === "skipped") relay.push(skip(index));
          if (fate === "succeeded") moves.push(move({ tokenId: (moves.length + 1).toString() }));
          const [failed, skipped] = ["execution_reverted", "number_taken"];
          return [
            `r${index.toString()}`,
            fate === "failed" ? failed : fate === "skipped" ? skipped : moves.length.toString(),
          ];
        });
        const found = run(requests, { relay: [...relay, closing(list.length)], moves });
        expect(found.outcomes).to.deep.equal(expected);
        expect(found.untouched).to.deep.equal(requests.slice(list.length).map((request) => request.id));
        expect(found.owners).to.deep.equal(
          list.flatMap((fate, index) => (fate === "succeeded" ? [`r${index.toString()}`] : [])),
        );
      }),
      { numRuns: 100 },
    );
  });

  it("ignores a skipped number whose outcome is already known", () => {
    for (const known of [
      { status: "completed" as const },
      { status: "failed" as const },
      { outcome: { ok: true as const, collection: COLLECTION, tokenId: "1" } },
    ]) {
      expect(run([{ ...mint(1), ...known }], { relay: [skip(1), closing(1)] })).to.deep.equal({
        outcomes: [],
        untouched: [],
        owners: [],
      });
    }
  });

  it("decodes the reason of a failure", () => {
    const reason = abi.erc721.encodeErrorResult("ERC721InvalidReceiver", [BOB]);
    expect(run([mint(1, BOB)], { relay: [failure(1, reason), closing(1)] }).outcomes).to.deep.equal([
      ["r1", "receiver_rejected"],
    ]);
  });

  it("ignores moves of other contracts, accounts and ids in the same transaction", () => {
    const requests = [mint(1), transfer(2), transfer(3, { contract: COLLECTION, foreign: false, tokenId: "7" })];
    const moves = [
      move({ contract: FOREIGN, tokenId: "77" }),
      move({ from: BOB, to: ALICE, tokenId: "7" }),
      move({ tokenId: "4" }),
      move({ contract: FOREIGN, from: ALICE, to: BOB, tokenId: "9" }),
      move({ from: ALICE, to: BOB, tokenId: "7" }),
      // What a receiver makes of it in its hook.
      move({ from: BOB, to: ALICE, tokenId: "7" }),
    ];
    const found = run(requests, { relay: [closing(3)], moves });
    expect(found.outcomes).to.deep.equal([
      ["r1", "4"],
      ["r2", "9"],
      ["r3", "7"],
    ]);
  });

  it("accepts a foreign contract that moves a token without an event", () => {
    expect(run([transfer(1)], { relay: [closing(1)] })).to.deep.equal({
      outcomes: [["r1", "9"]],
      untouched: [],
      owners: [],
    });
  });

  it("gives an adopted contract's tokens to its mints only if there are no others, and never guesses", () => {
    const requests = [adoptedMint(1), adoptedMint(2, BOB), adoptedMint(3)];
    const relay = [failure(3), closing(3)];
    const made = (to: string, tokenId: string) => move({ contract: FOREIGN, to, tokenId });
    const [one, two] = [made(ALICE, "7"), made(BOB, "8")];
    // A transfer in the contract, and a mint in another one, are not its business.
    const others = [move({ contract: FOREIGN, from: ALICE, to: BOB, tokenId: "7" }), move({ to: BOB })];
    expect(run(requests, { relay, moves: [one, ...others, two] })).to.deep.equal({
      outcomes: [
        ["r1", "7"],
        ["r2", "8"],
        ["r3", "execution_reverted"],
      ],
      untouched: [],
      owners: ["r1", "r2"],
    });
    for (const moves of [[], [one], [two, one], [one, two, made(ALICE, "9")], [one, { ...two, quantity: "2" }]])
      expect(run(requests, { relay, moves })).to.deep.equal({
        stops: [FOREIGN],
        outcomes: [
          ["r1", null],
          ["r2", null],
          ["r3", "execution_reverted"],
        ],
        untouched: [],
        owners: [],
      });
    // Its logs are not read in quarantine, and not when old blocks are read again.
    const done = [adoptedMint(1, ALICE, { status: "completed", nft_token_id: "7" }), adoptedMint(2)];
    expect(run(done, { relay: [closing(2)] }, false).outcomes).to.deep.equal([
      ["r1", "7"],
      ["r2", null],
    ]);
  });

  it("finds the collection of a request by the request number", () => {
    const create = requestOf(8, creation());
    const created = new Map([[8n, COLLECTION]]);
    const { outcomes } = attribute([create], { relay: [closing(1)], moves: [], created }, () => true);
    expect(outcomes[0]?.outcome).to.deep.equal({ ok: true, collection: COLLECTION, tokenId: null });
    expect(() => run([create], { relay: [closing(1)] })).to.throw(AttributionError);
  });

  it("throws AttributionError when the logs do not fit the batch", () => {
    expect(() => run([mint(1)], { relay: [] }), "no closing event").to.throw(AttributionError);
    expect(() => run([mint(1)], { relay: [closing(1)] }), "no mint").to.throw(AttributionError);
    expect(() => run([mint(1)], { relay: [closing(1)], moves: [move({ to: BOB })] }), "to another").to.throw(
      AttributionError,
    );
    const own = transfer(1, { contract: COLLECTION, foreign: false });
    expect(() => run([own], { relay: [closing(1)] }), "no transfer").to.throw(AttributionError);
  });
});
