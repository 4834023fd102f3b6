import { AbiCoder, dataLength, Interface } from "ethers";
import { expect } from "chai";

import { NO_L1_DATA } from "../../../api/domain/gas-estimate.ts";
import { readGasMeasurement } from "../../../api/store/requests/gas-measurement.ts";
import type { ProxiedCall } from "../../../scripts/scene/rpc-proxy.ts";
import { logLines } from "../../support/log-lines.ts";
import { useService } from "../../support/use-service.ts";

const OP_ORACLE = "0x420000000000000000000000000000000000000F";
const SCROLL_ORACLE = "0x5300000000000000000000000000000000000002";
const NODE_INTERFACE = "0x00000000000000000000000000000000000000C8";
/** A contract that answers each call with a gwei for each byte of its calldata. */
const GWEI_FOR_EACH_BYTE = "0x36633b9aca00025f5260205ff3";
const estimates = new Interface(["function gasEstimateL1Component(address, bool, bytes)"]);
/** What the chain below charges for L1 data: gas for a transaction, and for each byte. */
const ARBITRUM = { base: 5_000, byte: 30 };

/** Answers as the node of an Arbitrum chain does. */
function asArbitrum({ method, params }: ProxiedCall) {
  const [call] = params as [{ to?: string; data?: string }];
  if (method !== "eth_call" || call.to !== NODE_INTERFACE) return undefined;
  const [, , bytes] = estimates.decodeFunctionData("gasEstimateL1Component", call.data ?? "0x") as unknown as string[];
  const gas = ARBITRUM.base + ARBITRUM.byte * dataLength(bytes ?? "0x");
  return { result: AbiCoder.defaultAbiCoder().encode(["uint64", "uint256", "uint256"], [gas, 1, 1]) };
}

describe("L1 data of rollups", () => {
  const moneta = useService({ proxy: true, logger: logLines().logger });
  const { api } = moneta;

  const measured = async () => {
    await moneta.restart();
    return (await readGasMeasurement(moneta.service.database.read)).measurement?.l1;
  };
  const setCode = (address: string, code: string) => moneta.provider.send("hardhat_setCode", [address, code]);

  it("costs nothing on a chain without it", async () => {
    expect(await measured()).to.deep.equal(NO_L1_DATA);
  });

  for (const [chain, oracle] of Object.entries({ "the OP stack": OP_ORACLE, Scroll: SCROLL_ORACLE })) {
    it(`is a fee beside the gas on ${chain}, which the lanes' funds must cover`, async () => {
      await setCode(oracle, GWEI_FOR_EACH_BYTE);
      try {
        expect(await measured()).to.deep.equal({ ...NO_L1_DATA, itemFee: 384e9 });
      } finally {
        await setCode(oracle, "0x");
      }
    });
  }

  it("is a part of each request's cost, by the receipt of its transaction", async () => {
    const l1Fee = 10n ** 18n;
    moneta.intercept = async ({ method, params }) => {
      if (method !== "eth_getTransactionReceipt") return undefined;
      const receipt = (await moneta.provider.send(method, params)) as object | null;
      return { result: receipt === null ? null : { ...receipt, l1Fee: `0x${l1Fee.toString(16)}` } };
    };
    const { transaction_hash, fee_wei } = await api.completed("/v1/collections", {
      type: "ERC721",
      name: "n",
      symbol: "s",
    });
    const receipt = await moneta.provider.getTransactionReceipt(transaction_hash ?? "");
    expect(BigInt(fee_wei ?? 0)).to.equal((receipt?.fee ?? 0n) + l1Fee);
  });

  it("is gas on Arbitrum: a transaction gets twice what its bytes cost, and smaller batches fit", async () => {
    const gasOf = async () => {
      const { transaction_hash } = await api.completed("/v1/collections", { type: "ERC721", name: "n", symbol: "s" });
      const sent = await moneta.provider.getTransaction(transaction_hash ?? "");
      return { limit: Number(sent?.gasLimit ?? 0n), bytes: dataLength(sent?.data ?? "0x") };
    };
    const plain = await gasOf();
    moneta.intercept = asArbitrum;
    expect(await measured()).to.deep.equal({
      base: ARBITRUM.base,
      zero: ARBITRUM.byte,
      other: ARBITRUM.byte,
      itemFee: 0,
    });
    const { limit, bytes } = await gasOf();
    const charged = ARBITRUM.base + ARBITRUM.byte * bytes;
    // The bytes around a call are counted at their most.
    expect(limit - plain.limit).to.be.within(2 * charged, 2 * charged + 2 * ARBITRUM.byte * 150);
  });
});
