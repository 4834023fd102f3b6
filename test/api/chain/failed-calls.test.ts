import { expect } from "chai";

import { ChainClient } from "../../../api/chain/client.ts";
import { type Cause, type FailedCall, findCauses } from "../../../api/chain/failed-calls.ts";
import { simulatePlannedCalls } from "../../../api/chain/simulate-calls.ts";
import { type FakeRpc, startFakeRpc } from "../../support/fake-rpc.ts";
import { startNode, type TestNode } from "../../support/node.ts";
import { useAnvil } from "../../support/use-anvil.ts";
import { randomAddress } from "../support/rows.ts";

const CONTRACTS = { relay: randomAddress(), delegate: randomAddress() };
const BLOCK = `0x${"0b".repeat(32)}`;
const MISSING = { error: { code: -32000, message: "missing trie node" } };

function patience(): AbortSignal {
  return AbortSignal.timeout(60_000);
}

function mintOf(collection: string, to: string, limit: number, mayHaveRunOut = true): FailedCall {
  const command = { kind: "mint-erc721", collection, to, metadata: null } as const;
  return { command, target: collection, data: "0x", number: 1n, limit, mayHaveRunOut };
}

describe("findCauses", () => {
  let hardhat: TestNode;
  before("start a node", async () => {
    hardhat = await startNode();
  });
  after("stop the node", () => hardhat.stop());
  const anvil = useAnvil(31_337);

  for (const [name, node] of [
    ["Hardhat's node", () => hardhat],
    ["Anvil", () => anvil],
  ] as const) {
    it(`tells why calls failed, on ${name}`, async () => {
      const { provider, url } = node();
      const accountWith = async (code: string) => {
        const address = randomAddress();
        await provider.send("hardhat_setCode", [address, code]);
        return address;
      };
      // The first one uses about 1,300,000 gas, the second one reverts.
      const [expensive, reverting] = [await accountWith("0x6001620c39005200"), await accountWith("0x5f5ffd")];
      const [receiver, nobody] = [await accountWith("0x00"), randomAddress()];
      await provider.send("evm_mine", []);
      const block = await provider.getBlock("latest");
      const calls: [string, FailedCall, Cause][] = [
        ["needs more than the limit", mintOf(expensive, nobody, 1_000_000), "out of gas"],
        ["needs more than twice the limit", mintOf(expensive, nobody, 500_000), null],
        ["needs less than the limit", mintOf(expensive, nobody, 1_500_000), null],
        ["is in a transaction that used less", mintOf(expensive, nobody, 1_000_000, false), null],
        ["reverts", mintOf(reverting, nobody, 1_000_000), null],
        ["reverts, with a receiver", mintOf(reverting, receiver, 1_000_000), { receiver, delegate: null }],
      ];
      const client = new ChainClient(url);
      const causes = await findCauses(
        client,
        CONTRACTS,
        calls.map(([, call]) => call),
        { block: block?.hash ?? "", abort: patience() },
      );
      expect(calls.map(([what], index) => [what, causes[index]])).to.deep.equal(
        calls.map(([what, , cause]) => [what, cause]),
      );
    });
  }
});

describe("a node that uses one error for calls that failed and for state that it does not have", () => {
  const [collection, receiver] = [randomAddress(), randomAddress()];
  let node: FakeRpc;
  let client: ChainClient;
  before(async () => {
    node = await startFakeRpc(() => MISSING);
    client = new ChainClient(node.url);
  });
  after(() => node.stop());

  function causes(): Promise<Cause[] | "unanswered"> {
    return findCauses(client, CONTRACTS, [mintOf(collection, receiver, 100_000)], { block: BLOCK, abort: patience() });
  }

  it("shows by a success with twice the gas that it has the state", async () => {
    node.answer = ({ method, params }) => {
      if (method !== "eth_call") return "0x";
      const { gas } = params[0] as { gas: string };
      return Number(gas) > 200_000 ? "0x" : { error: { code: -32000, message: "out of gas" } };
    };
    expect(await causes()).to.deep.equal(["out of gas"]);
  });

  it("blames nobody without the state", async () => {
    node.answer = () => MISSING;
    expect(await causes()).to.deep.equal([null]);
  });

  it("asks nobody after the abort", async () => {
    const asked = node.calls.length;
    const calls = [mintOf(collection, receiver, 100_000)];
    const answer = await findCauses(client, CONTRACTS, calls, { block: BLOCK, abort: AbortSignal.abort() });
    expect(answer).to.equal("unanswered");
    expect(node.calls).to.have.length(asked);
  });

  for (const [what, code, errorCode] of [
    ["a receiver with code", "0x00", "receiver_rejected"],
    ["a receiver without code", "0x", "execution_reverted"],
  ] as const) {
    it(`finds a call without a reason by a simulation: ${what}`, async () => {
      node.answer = ({ method, params }) => {
        if (method === "eth_getCode") return code;
        const { data } = params[0] as { data: string };
        if (method === "eth_call" && data === "0x6d6f6e657461") return data;
        return { error: { code: -32000, message: "execution reverted" } };
      };
      const { command, target, data, number } = mintOf(collection, receiver, 100_000);
      const call = { command, target, data, number, needsDelegation: false };
      const [result] = await simulatePlannedCalls(client, CONTRACTS, [call], {
        ...{ block: 7, itemGas: 100_000, abort: patience() },
      });
      expect(result).to.have.nested.property("failure.errorCode", errorCode);
    });
  }
});
