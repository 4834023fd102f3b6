import { expect } from "chai";

import { mintFunction, NoMintFunction } from "../../../api/chain/codec/mint-function.ts";
import type { AdoptedMint, Mint } from "../../../api/domain/command.ts";
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
});
