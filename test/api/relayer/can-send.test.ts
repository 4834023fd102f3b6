import { expect } from "chai";
import fc from "fast-check";

import { ChainUnavailable } from "../../../api/chain/errors.ts";
import { ChainClient } from "../../../api/chain/client.ts";
import { replacementFees } from "../../../api/domain/wei.ts";
import { CannotSend, currentFees } from "../../../api/relayer/can-send.ts";
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
    const { fees } = await currentFees(new ChainClient(node.url), ceiling);
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

  it("throw when the next block costs more than the ceiling, for any tip that a node reports", async () => {
    for (const tip of [2n * GWEI + 1n, 10n ** 30n]) {
      const error = await ask(10n * GWEI, tip, 12n * GWEI).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(CannotSend).with.property("code", "fees_too_high");
      expect((error as CannotSend).message).to.match(
        /^gas costs \d+ gwei, and MAX_FEE_GWEI allows 12: wait for lower fees or raise MAX_FEE_GWEI$/,
      );
    }
  });
});

describe("the priority fee of a chain without eth_maxPriorityFeePerGas", () => {
  let node: FakeRpc;
  before(async () => {
    node = await startFakeRpc(() => null);
  });
  after(() => node.stop());

  const notFound = { error: { code: -32601, message: "the method does not exist/is not available" } };
  const tipOf = (answers: Record<string, unknown>) => {
    node.calls.length = 0;
    node.answer = ({ method }) => answers[method] ?? notFound;
    return new ChainClient(node.url);
  };

  it("is the median of what recent blocks paid; empty blocks do not count", async () => {
    const reward = [["0x0"], ["0x64"], ["0x5"], ["0xa"], ["0x0"]];
    expect(await tipOf({ eth_feeHistory: { reward } }).priorityFee()).to.equal(10n);
  });

  it("is the gas price without the base fee when recent blocks show nothing", async () => {
    for (const eth_feeHistory of [undefined, {}, { reward: null }, { reward: [["0x0"]] }]) {
      const eth_getBlockByNumber = { baseFeePerGas: "0x64" };
      const answers = { eth_feeHistory, eth_gasPrice: "0x67", eth_getBlockByNumber };
      expect(await tipOf(answers).priorityFee()).to.equal(3n);
    }
  });

  it("is read from fee history for one error of another kind, and suggested again afterwards", async () => {
    const client = tipOf({
      eth_maxPriorityFeePerGas: { error: { code: -32000, message: "header not found" } },
      eth_feeHistory: { reward: [["0x7"]] },
    });
    expect(await client.priorityFee()).to.equal(7n);
    node.answer = () => "0x9";
    expect(await client.priorityFee()).to.equal(9n);
  });

  it("throws ChainUnavailable for an answer that is no fee", async () => {
    const error = await tipOf({ eth_maxPriorityFeePerGas: "much" })
      .priorityFee()
      .catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ChainUnavailable);
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
