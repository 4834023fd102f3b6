import { expect } from "chai";

import { type GasMeasurement, measurementFromSlotPrice, UNMEASURED_GAS } from "../../../api/domain/gas-estimate.ts";
import { writeMeta } from "../../../api/store/db/meta.ts";
import { readGasMeasurement, writeGasMeasurement } from "../../../api/store/requests/gas-measurement.ts";
import type { ProxiedCall } from "../../../scripts/scene/rpc-proxy.ts";
import { eventually } from "../../support/eventually.ts";
import { logLines } from "../../support/log-lines.ts";
import { useService } from "../../support/use-service.ts";

/** Figures of a chain on which everything costs next to nothing. */
const TOO_LOW: GasMeasurement = {
  ...UNMEASURED_GAS,
  newSlot: 1,
  slotUpdate: 1,
  createCollection: { base: 1, each: 1 },
};

const REFUSED = { error: { code: -32602, message: "too many arguments" } };

function overridesCode({ method, params }: ProxiedCall): boolean {
  return method === "eth_call" && params.length === 3;
}

describe("GasMeter", () => {
  const { logger, lines } = logLines();
  // The service measures when it starts, and the tests read the log.
  const moneta = useService({ proxy: true, logger });
  const { api } = moneta;

  const stored = () => readGasMeasurement(moneta.service.database.read);

  it("measures the calls at the start, within 5 % of what the contracts are known to cost", async () => {
    const { measurement } = await stored();
    expect(measurement?.transactionGas).to.equal(16_777_216);
    expect(measurement?.newSlot).to.be.closeTo(22_108, 10);
    expect(measurement?.mintErc721).to.be.closeTo(UNMEASURED_GAS.mintErc721, 0.05 * UNMEASURED_GAS.mintErc721);
    expect(measurement?.firstMintErc721).to.be.closeTo(77_080, 4_000);
    expect(measurement?.createCollection.each).to.be.closeTo(202, 10);
    // EIP-7623.
    expect(measurement?.floor).to.include({ zero: 10, other: 40 });
    expect(measurement?.floor.base).to.be.closeTo(21_000, 10);
  });

  describe("given the figures are too low", () => {
    it("still gives a call enough gas: the figures of one node fail no request", async () => {
      const { shortage } = await stored();
      await moneta.stop();
      moneta.intercept = (call) => (overridesCode(call) || call.method === "eth_estimateGas" ? REFUSED : undefined);
      await moneta.start();
      await moneta.service.database.write((trx) => writeGasMeasurement(trx, TOO_LOW, shortage));
      await moneta.restart();
      await api.completed("/v1/collections", {
        type: "ERC721",
        name: "n",
        symbol: "s",
        base_uri: `https://a.example/${"x".repeat(1_900)}`,
      });
      expect((await stored()).measurement?.newSlot).to.equal(TOO_LOW.newSlot);
    });

    it("measures again as soon as a call ran out of gas", async () => {
      moneta.intercept = null;
      await moneta.service.database.write((trx) => writeMeta(trx, "gas_shortage", "0x01"));
      const { measurement } = await eventually(async () => {
        const now = await stored();
        return now.answered === "0x01" ? now : undefined;
      });
      expect(measurement?.newSlot).to.be.closeTo(22_108, 10);
      const change = "the gas costs of the chain changed: batches are built for the new costs";
      expect(lines.filter(({ msg }) => msg === change)).not.to.deep.equal([]);
    });
  });

  describe("given a node without state overrides", () => {
    it("measures the price of a new slot by an estimate, and scales the figures", async () => {
      moneta.intercept = (call) => (overridesCode(call) ? REFUSED : undefined);
      const before = (await stored()).measurement;
      await moneta.restart();
      const { measurement } = await stored();
      expect(measurement?.newSlot).to.be.within(22_108, 23_500);
      const { floor, ...others } = measurement ?? UNMEASURED_GAS;
      const scaled = measurementFromSlotPrice(others.newSlot);
      expect({ ...others, floor: scaled.floor }).to.deep.equal(scaled);
      expect(floor, "needs no override").to.deep.equal(before?.floor);
      expect(measurement?.mintErc721).to.be.closeTo(before?.mintErc721 ?? 0, 3_000);
    });
  });

  describe("given a node that cannot measure at all", () => {
    it("continues with the stored figures, and warns", async () => {
      moneta.intercept = (call) => (overridesCode(call) || call.method === "eth_estimateGas" ? REFUSED : undefined);
      const before = await stored();
      await moneta.restart();
      expect(await stored()).to.deep.equal(before);
      expect(lines.some(({ msg }) => msg.startsWith("the node supports no way to measure gas costs"))).to.equal(true);
      await api.collection({ type: "ERC721" });
    });
  });
});

describe("measurementFromSlotPrice", () => {
  it("is close to what was measured under the rules of Amsterdam, and never much lower", () => {
    const measured: Record<string, number> = {
      firstMintErc721: 319_540,
      mintErc721: 212_279,
      mintErc1155: 110_534,
      announceMetadata: 8_331,
      transferErc721: 114_069,
      transferErc1155: 115_366,
    };
    const scaled = measurementFromSlotPrice(102_928);
    for (const [name, gas] of Object.entries(measured)) {
      expect(scaled[name as "mintErc721"], name).to.be.within(0.98 * gas, 1.25 * gas);
    }
    expect(scaled.createCollection.each).to.be.within(1_532, 1_700);
    expect(scaled.createErc1155.base).to.be.within(216_100, 240_000);
    expect(scaled.freezeMetadata.each).to.be.within(103_000, 110_000);
  });
});
