import { expect } from "chai";
import { id, type JsonRpcSigner } from "ethers";

import { NEXT_ID } from "../../../api/domain/token.ts";
import type { Shape } from "../../../client/client.ts";
import { ExtendedERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/ExtendedERC1155__factory.ts";
import { ExtendedERC721__factory } from "../../../types/ethers-contracts/factories/mocks/ExtendedERC721__factory.ts";
import { MintToERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/MintToERC1155__factory.ts";
import { MintToERC721__factory } from "../../../types/ethers-contracts/factories/mocks/MintToERC721__factory.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useService } from "../../support/use-service.ts";
import { runCli } from "../cli/support/run.ts";
import { adopted, relayOf, settledMint, switchMinting } from "../support/mint-adopted.ts";

describe("minting into contracts of the known families", () => {
  const moneta = useService();
  let owner: JsonRpcSigner;
  let relay: string;

  before(async () => {
    owner = await moneta.provider.getSigner(3);
    relay = await relayOf(moneta);
  });

  const refusalOf = async (address: string) =>
    (await rejectionOf(runCli(moneta.env, "collection", "minting", address))).message;
  /** Adopts it, lets its owner make the call that the command names, and switches minting on. */
  async function ready(contract: { getAddress: () => Promise<string> }, call: string) {
    const address = await contract.getAddress();
    await adopted(moneta, address);
    const [, name, to, data] = /calls (\S+) of (0x\w{40}), data (0x\w+)/.exec(await refusalOf(address)) ?? [];
    expect([name, to]).to.deep.equal([call, address]);
    await (await owner.sendTransaction({ to: address, data: data ?? "" })).wait();
    const { mint_function: minting, rights_known: areKnown } = await switchMinting(moneta, address);
    expect(areKnown).to.equal(true);
    return { address, minting };
  }
  const outcomeOf = ({ status, nft_token_id: token }: Shape<"Request">) => [status, token];

  it("mints by mintTo of ERC721, where one role administers itself", async () => {
    const contract = await new MintToERC721__factory(owner).deploy(owner.address);
    const { address, minting } = await ready(contract, "grantRole(bytes32,address)");
    expect(minting).to.equal("mintTo({to:address},{uri:string})");
    const wallet = await moneta.api.wallet();
    const fields = { collection_address: address, to_address: wallet, uri: "ipfs://one" };
    expect(outcomeOf(await settledMint(moneta, fields))).to.deep.equal(["completed", 0]);
    expect([await contract.ownerOf(0), await contract.tokenURI(0)]).to.deep.equal([wallet, "ipfs://one"]);
    await (await contract.grantRole(id("METADATA_ROLE"), relay)).wait();
    expect(await refusalOf(address)).to.contain("METADATA_ROLE");
  });

  it("mints by mintTo of ERC1155, also when the contract has no token yet", async () => {
    const contract = await new MintToERC1155__factory(owner).deploy(owner.address);
    const { address, minting } = await ready(contract, "grantRole(bytes32,address)");
    expect(minting).to.equal("mintTo({to:address},{token_id:uint256},{uri:string},{quantity:uint256})");
    const wallet = await moneta.api.wallet();
    const next = { collection_address: address, token_id: NEXT_ID, initial_supply: 5, initial_owner: wallet };
    const more = { collection_address: address, token_id: 0, quantity: 2, to_address: wallet };
    const made = await settledMint(moneta, { ...next, uri: "ipfs://zero" });
    expect(outcomeOf(made)).to.deep.equal(["completed", 0]);
    expect(outcomeOf(await settledMint(moneta, { ...more, uri: "ipfs://other" }))).to.deep.equal(["completed", 0]);
    expect([await contract.balanceOf(wallet, 0), await contract.uri(0)]).to.deep.equal([7n, "ipfs://zero"]);
    const unknown = await settledMint(moneta, { ...more, token_id: 9, uri: "ipfs://nine" });
    expect([unknown.status, unknown.error_code]).to.deep.equal(["failed", "execution_reverted"]);
    await (await contract.grantRole(`0x${"0".repeat(64)}`, relay)).wait();
    expect(await refusalOf(address)).to.contain("DEFAULT_ADMIN_ROLE");
  });

  it("mints as an extension of an ERC721 contract", async () => {
    const contract = await new ExtendedERC721__factory(owner).deploy(owner.address);
    const { address, minting } = await ready(contract, "registerExtension(address,string)");
    expect(minting).to.equal("mintExtension({to:address},{uri:string})");
    const wallet = await moneta.api.wallet();
    const fields = { collection_address: address, to_address: wallet, uri: "ipfs://one" };
    expect(outcomeOf(await settledMint(moneta, fields))).to.deep.equal(["completed", 1]);
    expect(await contract.tokenURI(1)).to.equal("ipfs://one");
    await (await contract.approveAdmin(relay)).wait();
    expect(await refusalOf(address)).to.contain("isAdmin");
  });

  it("mints as an extension of an ERC1155 contract", async () => {
    const contract = await new ExtendedERC1155__factory(owner).deploy(owner.address);
    const { address, minting } = await ready(contract, "registerExtension(address,string)");
    expect(minting).to.equal("mintExtensionNew({to:address[]},{quantity:uint256[]},{uri:string[]})");
    const wallet = await moneta.api.wallet();
    const made = await settledMint(moneta, {
      ...{ collection_address: address, to_address: wallet, quantity: 3, uri: "ipfs://one" },
    });
    expect(outcomeOf(made)).to.deep.equal(["completed", 1]);
    expect([await contract.balanceOf(wallet, 1), await contract.uri(1)]).to.deep.equal([3n, "ipfs://one"]);
  });
});
