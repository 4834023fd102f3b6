import { expect } from "chai";
import fc from "fast-check";

import { ChainClient } from "../../../api/chain/client.ts";
import { Rpc } from "../../../api/chain/rpc.ts";
import { currentFees, FeesTooHigh, replacementFees } from "../../../api/relayer/fees.ts";
import { type FakeRpc, startFakeRpc } from "../../support/fake-rpc.ts";

const GWEI = 10n ** 9n;

describe("currentFees", () => {
  let node: FakeRpc;
  before(async () => {
    node = await startFakeRpc(() => null);
  });
  after(() => node.stop());

  const ask = async (baseFee: bigint, tip: bigint, ceiling: bigint) => {
    const zeros = `0x${"0".repeat(64)}`;
    node.answer = ({ method }) =>
      method === "eth_maxPriorityFeePerGas"
        ? `0x${tip.toString(16)}`
        : {
            number: "0x1",
            hash: zeros,
            parentHash: zeros,
            timestamp: "0x1",
            gasLimit: "0x1",
            baseFeePerGas: `0x${baseFee.toString(16)}`,
          };
    const { fees } = await currentFees(new ChainClient(new Rpc(node.url)), ceiling);
    return fees;
  };

  it("stay valid until the base fee doubles", async () => {
    expect(await ask(10n * GWEI, 2n * GWEI, 100n * GWEI)).to.deep.equal({
      maxFeePerGas: 22n * GWEI,
      maxPriorityFeePerGas: 2n * GWEI,
    });
  });

  it("never exceed the ceiling", async () => {
    expect((await ask(10n * GWEI, 2n * GWEI, 15n * GWEI)).maxFeePerGas).to.equal(15n * GWEI);
    expect((await ask(10n * GWEI, 2n * GWEI, 12n * GWEI)).maxFeePerGas).to.equal(12n * GWEI);
  });

  it("throw FeesTooHigh when the next block costs more than the ceiling, for any tip that a node reports", async () => {
    for (const tip of [2n * GWEI + 1n, 10n ** 30n]) {
      const error = await ask(10n * GWEI, tip, 12n * GWEI).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(FeesTooHigh);
      expect((error as FeesTooHigh).message).to.match(
        /^gas costs \d+ gwei, and MAX_FEE_GWEI allows 12: wait for lower fees or raise MAX_FEE_GWEI$/,
      );
    }
  });
});

describe("replacementFees", () => {
  const fee = fc.bigInt({ min: 0n, max: 10n ** 15n });
  const fees = fc.record({ maxFeePerGas: fee, maxPriorityFeePerGas: fee });

  it("raise both fees by at least 10 %, and are enough for the current fees", () => {
    fc.assert(
      fc.property(fees, fees, (previous, current) => {
        const next = replacementFees(previous, current, 10n ** 18n);
        for (const name of ["maxFeePerGas", "maxPriorityFeePerGas"] as const) {
          const found = next?.[name] ?? -1n;
          expect(found * 10n >= previous[name] * 11n, name).to.equal(true);
          expect(found > previous[name], name).to.equal(true);
          expect(found >= current[name], name).to.equal(true);
        }
      }),
    );
  });

  it("are null when they would exceed the ceiling", () => {
    fc.assert(
      fc.property(fees, fees, fee, (previous, current, ceiling) => {
        const free = replacementFees(previous, current, 10n ** 18n);
        const allowed = free !== null && free.maxFeePerGas <= ceiling ? free : null;
        expect(replacementFees(previous, current, ceiling)).to.deep.equal(allowed);
      }),
    );
  });
});
