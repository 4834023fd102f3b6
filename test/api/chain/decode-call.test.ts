import { expect } from "chai";
import { computeAddress, id, SigningKey } from "ethers";

import { decodeCommand, effectOf, usesUnknownFactory } from "../../../api/chain/codec/decode-call.ts";
import { encodeServiceCall, encodeWalletCall } from "../../../api/chain/codec/encode.ts";
import type { ContractAddresses } from "../../../api/chain/contracts.ts";
import type { WalletCommand } from "../../../api/domain/command.ts";
import { creation, randomAddress, randomContracts } from "../support/rows.ts";

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

describe("what a wallet signed, as it is on chain", () => {
  const contracts = randomContracts();
  const key = new SigningKey(id("a wallet"));
  const [from, to, contract] = [computeAddress(key), randomAddress(), randomAddress()];

  for (const contractType of ["ERC721", "ERC1155"] as const) {
    for (const foreign of [false, true]) {
      const token = {
        contract,
        contractType,
        foreign,
        from,
        tokenId: "7",
        quantity: contractType === "ERC721" ? "1" : "3",
      };
      const commands: WalletCommand[] = [
        { kind: "burn", ...token },
        { kind: "transfer", ...token, to },
      ];
      for (const command of commands) {
        it(`is the ${command.kind} of ${contractType} tokens, ${foreign ? "through the delegate" : "by signature"}`, () => {
          const call = { number: 5n, ...encodeWalletCall(command, key, { chainId: 1n, contracts, number: 5n }) };
          const decoded = decodeCommand(call, contracts);
          expect(decoded).to.deep.equal(command);
          expect(effectOf(decoded, contracts)).to.equal(effectOf({ ...command, foreign: !foreign }, contracts));
        });
      }
      it(`is something else for a burn and a transfer of ${contractType}, ${foreign ? "delegated" : "signed"}`, () => {
        const effects = commands.map((command) => effectOf(command, contracts));
        expect(new Set(effects).size).to.equal(2);
      });
    }
  }
});
