import { expect } from "chai";

import { decodeCommand, effectOf, usesUnknownFactory } from "../../../api/chain/codec/decode-call.ts";
import { encodeServiceCall } from "../../../api/chain/codec/encode.ts";
import type { ContractAddresses } from "../../../api/chain/contracts.ts";
import { creation, randomAddress } from "../support/rows.ts";

describe("a creation on chain, with several factories", () => {
  const [newest, old] = [
    { storage: "compact", signedBurns: true, address: randomAddress() } as const,
    { storage: "standard", signedBurns: true, address: randomAddress() } as const,
  ];
  const before: ContractAddresses = {
    relay: randomAddress(),
    factories: [old],
    delegate: randomAddress(),
    deployedAt: 1,
  };
  const after: ContractAddresses = { ...before, factories: [newest, old] };
  const command = creation({ name: "One", hosting: "hosted", baseUri: null, metadata: {} });
  const callTo = (contracts: ContractAddresses) => ({ number: 1n, ...encodeServiceCall(command, contracts) });

  it("is made by the first factory, and recognised whichever made it", () => {
    expect(callTo(after).target).to.equal(newest.address);
    for (const call of [callTo(before), callTo(after)]) {
      const decoded = decodeCommand(call, after);
      expect(decoded).to.include({ kind: "create-collection", name: "One" });
      expect(effectOf(decoded, after)).to.equal(effectOf(command, after));
      expect(usesUnknownFactory(call, after)).to.equal(false);
    }
  });

  it("is noticed when a database does not know its factory", () => {
    expect(usesUnknownFactory(callTo(after), before)).to.equal(true);
    expect(decodeCommand(callTo(after), before).kind).to.equal("announce-metadata");
    const mint = { kind: "mint-erc721", collection: randomAddress(), to: randomAddress(), metadata: null } as const;
    expect(usesUnknownFactory({ number: 2n, ...encodeServiceCall(mint, before) }, before)).to.equal(false);
  });
});
