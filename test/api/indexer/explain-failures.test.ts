import { expect } from "chai";
import { Transaction } from "ethers";

import type { Cause } from "../../../api/chain/failed-calls.ts";
import { encodeBatch } from "../../../api/chain/codec/encode.ts";
import { explainFailures, type FailedItem, type FindCauses } from "../../../api/indexer/explain-failures.ts";
import type { ChainRange } from "../../../api/indexer/read-range.ts";
import type { SliceToStore } from "../../../api/store/ledger/apply-range.ts";
import type { StoredRequest } from "../../../api/store/requests/requests.ts";
import { randomAddress } from "../support/rows.ts";

const [COLLECTION, RECEIVER] = [randomAddress(), randomAddress()];
const AT = { transactionHash: "0x01", blockNumber: 5 };
const REFUSAL = { receiver: RECEIVER, delegate: null };
const LIMIT = 100_000;

function requestOf(number: number): StoredRequest {
  const command = { kind: "mint-erc721", collection: COLLECTION, to: RECEIVER, metadata: null } as const;
  return { id: `r${number.toString()}`, number: BigInt(number), app_id: "a", command } as StoredRequest;
}

/** A batch whose first call failed without a reason, whose second failed with one, and whose third succeeded. */
function batchOf(gas: number): { read: ChainRange; batches: SliceToStore["batches"] } {
  const failure = { ok: false, errorCode: "execution_reverted", errors: null } as const;
  const outcomes = [0, 1, 2].map((number) => ({
    request: requestOf(number),
    outcome: number < 2 ? failure : ({ ok: true, collection: COLLECTION, tokenId: "1" } as const),
  }));
  const failed = ["0x", "0x01020304"].map((reason, number) => ({
    ...{ kind: "call-failed" as const, number: BigInt(number), reason, logIndex: number },
    ...AT,
  }));
  const batch = { ...AT, batchId: 1, timestamp: 0, outcomes, untouched: [], cost: { gas, feeWei: 1n } };
  const headers = new Map([[5, { number: 5, hash: "0x5", parentHash: "0x4" }]]);
  return { read: { relay: failed, headers } as unknown as ChainRange, batches: [batch] };
}

const SENT = Transaction.from({
  to: RECEIVER,
  data: encodeBatch(
    [0, 1, 2].map((number) => ({ number: BigInt(number), target: COLLECTION, gasLimit: LIMIT, data: "0x01020304" })),
  ),
});

/** @param causes what the first node says, and then the other one; absent: there is no other. */
async function codesAfter(gas: number, ...causes: (Cause | undefined)[]) {
  const asked: [string, FailedItem[]][] = [];
  let node = 0;
  const client = {
    nodes: {
      second: async <T>(work: () => Promise<T>) => {
        node = 1;
        return causes.length > 1 ? work() : null;
      },
    },
    transactions: (hashes: string[]) => Promise.resolve(hashes.map(() => SENT)),
  };
  const causesAt: FindCauses = (calls, hash) => {
    asked.push([hash, [...calls]]);
    return Promise.resolve(calls.map(() => causes[node]));
  };
  const { read, batches } = batchOf(gas);
  const [explained] = await explainFailures(client, causesAt, read, batches);
  return {
    codes: explained?.outcomes.map(({ outcome }) => (outcome.ok ? null : outcome.errorCode)),
    asked: asked.map(([hash, calls]) => [
      hash,
      calls.map(({ number, limit, mayHaveRunOut }) => ({ number, limit, mayHaveRunOut })),
    ]),
  };
}

describe("explainFailures", () => {
  it("asks about the calls that gave no reason, at the parent of their block", async () => {
    const call = { number: 0n, limit: LIMIT };
    expect((await codesAfter(LIMIT, null)).asked).to.deep.equal([["0x4", [{ ...call, mayHaveRunOut: true }]]]);
    expect((await codesAfter(LIMIT - 1, null)).asked).to.deep.equal([["0x4", [{ ...call, mayHaveRunOut: false }]]]);
  });

  const cases: [string, (Cause | undefined)[], string][] = [
    ["one node says that it ran out of gas", ["out of gas"], "out_of_gas"],
    ["two nodes say that it ran out of gas", ["out of gas", "out of gas"], "out_of_gas"],
    ["another node contradicts", ["out of gas", REFUSAL], "execution_reverted"],
    ["another node does not tell", ["out of gas", null], "execution_reverted"],
    ["another node does not answer in time", [REFUSAL, undefined], "execution_reverted"],
    ["one node says that the receiver refused", [REFUSAL], "receiver_rejected"],
    ["two nodes say that the receiver refused", [REFUSAL, REFUSAL], "receiver_rejected"],
    ["they name different delegates", [REFUSAL, { ...REFUSAL, delegate: COLLECTION }], "execution_reverted"],
    ["no node tells", [null], "execution_reverted"],
    ["no node answers in time", [undefined], "execution_reverted"],
  ];
  for (const [what, causes, code] of cases) {
    it(`says ${code} when ${what}`, async () => {
      const { codes } = await codesAfter(LIMIT, ...causes);
      expect(codes).to.deep.equal([code, "execution_reverted", null]);
    });
  }
});
