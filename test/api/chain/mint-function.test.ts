import { expect } from "chai";
import { Interface } from "ethers";

import { mintFunction, NoMintFunction } from "../../../api/chain/codec/mint-function.ts";
import type { AdoptedMint, Mint } from "../../../api/domain/command.ts";
import { CollectionFactory__factory } from "../../../types/ethers-contracts/factories/CollectionFactory__factory.ts";
import { ERC1155Collection__factory } from "../../../types/ethers-contracts/factories/ERC1155Collection__factory.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { Relay__factory } from "../../../types/ethers-contracts/factories/Relay__factory.ts";
import { WalletDelegate__factory } from "../../../types/ethers-contracts/factories/WalletDelegate__factory.ts";
import { ExtendedERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/ExtendedERC1155__factory.ts";
import { ExtendedERC721__factory } from "../../../types/ethers-contracts/factories/mocks/ExtendedERC721__factory.ts";
import { MintToERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/MintToERC1155__factory.ts";
import { MintToERC721__factory } from "../../../types/ethers-contracts/factories/mocks/MintToERC721__factory.ts";
import { WizardERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC1155__factory.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { WizardRolesERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardRolesERC721__factory.ts";
import { randomAddress } from "../support/rows.ts";

describe("functions by which contracts of others mint", () => {
  const mint = (adopted: AdoptedMint): Mint => ({
    ...({ kind: "mint-erc721", collection: randomAddress(), to: randomAddress(), metadata: null } as const),
    adopted,
  });
  const copies = (quantity: string): Mint => ({
    ...({ kind: "mint-erc1155", collection: randomAddress(), to: randomAddress(), tokenId: "1", quantity } as const),
    adopted: { tokenId: "1", uri: null },
  });

  it("do not run a request that was accepted for another function", () => {
    const [plain, named] = ["mint({to:address})", "mint({to:address},{token_id:uint256})"].map(mintFunction);
    const described = mintFunction("mint({to:address},{uri:string})");
    const none = { tokenId: null, uri: null };
    expect(plain?.encode(mint(none))).to.match(/^0x/);
    for (const [other, command] of [
      [plain, mint({ ...none, tokenId: "7" })],
      [plain, mint({ ...none, uri: "ipfs://x" })],
      [named, mint(none)],
      [described, mint(none)],
      [named, copies("2")],
    ] as const)
      expect(() => other?.encode(command)).to.throw(NoMintFunction, "takes other fields");
    expect(named?.encode(copies("1"))).to.match(/^0x/);
  });

  it("are none that give rights, move tokens or run other calls", () => {
    for (const text of [
      "delegate({to:address})",
      "grantRoles({to:address},{token_id:uint256})",
      "addMinter({to:address})",
      "registerExtension({to:address},{uri:string})",
      "send({to:address},{quantity:uint256},{data:bytes})",
      "transferAndCall({to:address},{quantity:uint256},{data:bytes})",
      "burn({to:address},{token_id:uint256[]},{quantity:uint256[]})",
      "approve({to:address},{token_id:uint256},{quantity:uint256})",
    ])
      expect(() => mintFunction(text), text).to.throw(NoMintFunction, "not a function that mints");
  });

  it("are none that change anything else in the service's contracts, and in those that teams deploy", () => {
    const accepted = new Set<string>();
    for (const { interface: contract } of CONTRACTS)
      contract.forEachFunction(({ name, inputs, constant }) => {
        const places = placesOf(inputs.map(({ type }) => type));
        if (constant || places === null) return;
        const text = `${name}(${inputs.map(({ type }, index) => `{${places[index] ?? ""}:${type}}`).join(",")})`;
        if (isAccepted(text)) accepted.add(text);
      });
    expect([...accepted].filter((text) => !/^(safeMint|mint|create\()/.test(text))).to.deep.equal([]);
    expect(accepted).to.include("safeMint({to:address},{token_id:uint256})");
  });
});

const CONTRACTS = [
  ...[ERC721Collection__factory, ERC1155Collection__factory, Relay__factory, CollectionFactory__factory],
  ...[WalletDelegate__factory, WizardERC721__factory, WizardERC1155__factory, WizardRolesERC721__factory],
  ...[MintToERC721__factory, MintToERC1155__factory, ExtendedERC721__factory, ExtendedERC1155__factory],
].map((factory) => ({ interface: new Interface(factory.abi) }));

/** What each argument could be named; null: there is no name for all of them. */
function placesOf(types: readonly string[]): string[] | null {
  const names: Record<string, string[]> = {
    ...{ address: ["to"], uint256: ["token_id", "quantity"], string: ["uri"], bytes: ["data"] },
  };
  const used: string[] = [];
  for (const type of types) {
    const name = names[type.replace("[]", "")]?.find((one) => !used.includes(one));
    if (name === undefined) return null;
    used.push(name);
  }
  return used;
}

function isAccepted(text: string): boolean {
  try {
    mintFunction(text);
    return true;
  } catch (error) {
    if (error instanceof NoMintFunction) return false;
    throw error;
  }
}
