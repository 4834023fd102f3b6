import { expect } from "chai";
import type { JsonRpcSigner } from "ethers";

import type { Shape } from "../../../client/client.ts";
import { WizardERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC1155__factory.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";

type Collection = Shape<"Collection">;
type TypedText = Shape<"TypedText">;

describe("adoption of a contract that another party deployed", () => {
  const moneta = useService();
  const { api } = moneta;
  let owner: JsonRpcSigner;
  let stranger: JsonRpcSigner;

  before(async () => {
    [owner, stranger] = [await moneta.provider.getSigner(3), await moneta.provider.getSigner(4)];
  });

  async function signed(address: string, signer: JsonRpcSigner) {
    const { domain, types, message } = await api.ok<TypedText>("POST", "/v1/collections/adopt/text", { address });
    const { EIP712Domain: _domain, ...own } = types as Record<string, { name: string; type: string }[]>;
    const signature = await signer.signTypedData(domain, own, message);
    return { address, nonce: message["nonce"], expiry: Number(message["expiry"]), signature };
  }
  const adopt = async (address: string, signer = owner) =>
    api.ok<Collection>("POST", "/v1/collections/adopt", await signed(address, signer));
  const read = (address: string) =>
    eventually(async () => {
      const { collection } = await api.ok<Shape<"NftsPage">>("GET", `/v1/collections/${address}`);
      return collection.adopted?.state === "followed" ? collection : undefined;
    });
  const ownerOf = async (address: string, id: number) =>
    (await api.ok<Shape<"Erc721Nft">>("GET", `/v1/collections/${address}/${id.toString()}`)).owner;

  it("reads all tokens, holders and history of an ERC721 contract, and goes on with new blocks", async () => {
    const contract = await new WizardERC721__factory(owner).deploy(owner.address, 50);
    const address = await contract.getAddress();
    const wallet = await api.wallet();
    await (await contract.mint(stranger.address, 3)).wait();
    await (await contract.transferFrom(owner.address, wallet, 7)).wait();

    const adopted = await adopt(address);
    expect(adopted).to.include({ address, type: "ERC721", name: "Wizard 721", symbol: "W721", request_id: null });
    expect(adopted.owner).to.equal(owner.address);
    expect(adopted.adopted?.total_supply).to.equal("53");
    expect((await read(address)).minted).to.equal(53);
    expect(await ownerOf(address, 7)).to.equal(wallet);
    expect(await ownerOf(address, 52)).to.equal(stranger.address);
    const { nfts } = await api.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${wallet}`);
    expect(nfts.map((nft) => [nft.contract_address, nft.token_id])).to.deep.equal([[address, 7]]);

    // The app's wallet can transfer it, and strangers' moves are indexed.
    await api.settled(
      await api.accept("/v1/transfers", {
        ...{ contract_address: address, token_id: 7, from_address: wallet, to_address: stranger.address },
      }),
    );
    await (await contract.connect(stranger).transferFrom(stranger.address, owner.address, 51)).wait();
    await eventually(async () => (await ownerOf(address, 51) === owner.address ? true : undefined));
    expect(await ownerOf(address, 7)).to.equal(stranger.address);
    expect((await api.ok<Collection>("POST", "/v1/collections/adopt", await signed(address, owner))).minted).to.equal(53);
  });

  it("reads an ERC1155 contract, which an account with the admin role permits", async () => {
    const contract = await new WizardERC1155__factory(owner).deploy(owner.address);
    const address = await contract.getAddress();
    await (await contract.mintBatch(stranger.address, [1, 2], [10, 20])).wait();
    await (await contract.connect(stranger).safeTransferFrom(stranger.address, owner.address, 1, 4, "0x")).wait();
    const body = { ...(await signed(address, owner)), signer: owner.address };
    await api.ok("POST", "/v1/collections/adopt", body);
    expect(await read(address)).to.include({ minted: 2, copies: 30 });
    const { owners } = await api.ok<Shape<"Erc1155Nft">>("GET", `/v1/collections/${address}/1`);
    expect(owners.map(({ address: holder, quantity }) => [holder, quantity])).to.deep.equal([
      [stranger.address, 6],
      [owner.address, 4],
    ]);
  });
});
