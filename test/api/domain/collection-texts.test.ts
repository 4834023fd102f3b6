import { expect } from "chai";

import type { Command } from "../../../api/domain/command.ts";
import {
  measurementFromSlotPrice,
  mostCollectionBytes,
  RELAY_GAS_RESERVE,
  textBytes,
  UNKNOWN_SLOTS,
} from "../../../api/domain/gas-estimate.ts";
import { encodeServiceCall } from "../../../api/chain/codec/encode.ts";
import { batchGas, itemGas, RESERVE } from "../../../api/relayer/gas.ts";
import { creation, randomContracts } from "../support/rows.ts";

describe("the most bytes of the texts of a collection", () => {
  const contracts = randomContracts();
  const reaching = (bytes: number): Command =>
    creation({ name: "N", symbol: "S", baseUri: "u".repeat(bytes - 2), collectionUri: null, hosting: "self-hosted" });

  for (const newSlot of [22_108, 102_928, 216_000]) {
    it(`are those that the relayer can send, where a new slot costs ${newSlot.toString()}`, () => {
      const measured = measurementFromSlotPrice(newSlot);
      const most = mostCollectionBytes(measured);
      const needed = (bytes: number) => {
        const command = reaching(bytes);
        expect(textBytes(command)).to.equal(bytes);
        const { target, data } = encodeServiceCall(command as Parameters<typeof encodeServiceCall>[0], contracts);
        const gas = itemGas(measured, { command, data, slots: UNKNOWN_SLOTS, toWallet: false }, "own code", 1_000_000);
        return batchGas(measured, [{ gas, target, data, number: 1n }], 0).limit;
      };
      // A contract cannot have more code, whatever it costs.
      const sent = Math.min(most, 24_000);
      expect(needed(sent)).to.be.at.most(measured.transactionGas);
      if (most < 21_000) expect(needed(Math.ceil(1.1 * most) + 100)).to.be.above(measured.transactionGas);
    });
  }

  it("leave the relay its reserve", () => {
    expect(RESERVE).to.be.above(RELAY_GAS_RESERVE);
  });
});
