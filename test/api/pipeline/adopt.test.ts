import { expect } from "chai";
import { type JsonRpcSigner, ZeroAddress } from "ethers";

import type { Shape } from "../../../client/client.ts";
import { HostileERC721__factory } from "../../../types/ethers-contracts/factories/mocks/HostileERC721__factory.ts";
import { WizardERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC1155__factory.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import type { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";
import { readBack, signedAdoption } from "../support/adopt.ts";

const TOKENS = "token.minted,token.burned,token.sent,token.received,token.transferred";

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

  const signed = (address: string, signer: JsonRpcSigner, as: ApiClient = api) => signedAdoption(as, address, signer);
  const adopt = async (address: string, signer = owner) =>
    api.ok<Collection>("POST", "/v1/collections/adopt", await signed(address, signer));
  async function refusal(body: Record<string, unknown>, as: ApiClient = api) {
    const { status, body: answer } = await as.send("POST", "/v1/collections/adopt", body);
    expect(status).to.equal(422);
    const { error_code: code, errors } = answer as { error_code: string; errors: { field: string }[] };
    return [code, errors[0]?.field];
  }
  const listed = async (wallet: string, as: ApiClient) =>
    (await as.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${wallet}`)).nfts.map(
      ({ contract_address: contract, token_id: id }) => `${contract} ${id.toString()}`,
    );
  async function eventsOf(contract: string, as: ApiClient) {
    const page = await as.ok<Shape<"EventsFeed">>("GET", `/v1/events?after=start&types=${TOKENS}`);
    return page.events.filter((event) => "contract_address" in event && event.contract_address === contract);
  }
  async function read(address: string) {
    await readBack(moneta, address);
    return (await api.ok<Shape<"NftsPage">>("GET", `/v1/collections/${address}`)).collection;
  }
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

    // Whatever a mint says, the service has no right to it.
    for (const fields of [{}, { name: "Cat" }, { uri: "https://example.org/1" }])
      expect(
        (await api.send("POST", "/v1/nfts", { collection_address: address, to_address: wallet, ...fields })).body,
      ).to.include({ error_code: "service_cannot_mint" });

    // The app's wallet can transfer it, and strangers' moves are indexed.
    await api.settled(
      await api.accept("/v1/transfers", {
        ...{ contract_address: address, token_id: 7, from_address: wallet, to_address: stranger.address },
      }),
    );
    await (await contract.connect(stranger).transferFrom(stranger.address, owner.address, 51)).wait();
    await eventually(async () => ((await ownerOf(address, 51)) === owner.address ? true : undefined));
    expect(await ownerOf(address, 7)).to.equal(stranger.address);
    expect((await api.ok<Collection>("POST", "/v1/collections/adopt", await signed(address, owner))).minted).to.equal(
      53,
    );
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

  it("shows its tokens only to the app, and to apps that follow the contract", async () => {
    const other = await moneta.createApp("other");
    const contract = await new WizardERC721__factory(owner).deploy(owner.address, 3);
    const address = await contract.getAddress();
    const [mine, theirs] = [await api.wallet(), await other.wallet()];
    await (await contract.transferFrom(owner.address, theirs, 0)).wait();
    await (await contract.transferFrom(owner.address, mine, 1)).wait();
    await adopt(address);
    await read(address);
    await (await contract.transferFrom(owner.address, theirs, 2)).wait();
    await eventually(async () => ((await ownerOf(address, 2)) === theirs ? true : undefined));

    expect(await listed(mine, api)).to.deep.equal([`${address} 1`]);
    expect(await listed(theirs, other)).to.deep.equal([]);
    expect((await other.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${theirs}`)).total).to.equal(0);
    const told = await eventually(async () => {
      const events = await eventsOf(address, api);
      return events.length > 0 ? events : undefined;
    });
    // What was read back made none.
    expect(told.map((event) => "token_id" in event && event.token_id)).to.deep.equal([2]);
    expect(await eventsOf(address, other)).to.deep.equal([]);
    // To another app it is not there, and it cannot be adopted: like an address without a contract.
    expect((await other.send("GET", `/v1/collections/${address}`)).status).to.equal(404);
    const unknown = await refusal({ ...(await signed(owner.address, owner, other)), address: owner.address }, other);
    expect(await refusal(await signed(address, owner, other), other)).to.deep.equal(unknown);
    expect(unknown).to.deep.equal(["contract_not_supported", "address"]);

    await other.ok("GET", `/v1/accounts/${theirs}/${address}`);
    expect(await listed(theirs, other)).to.deep.equal([`${address} 0`, `${address} 2`]);
    await other.ok("DELETE", `/v1/contracts/${address}`);
    expect(await listed(theirs, other)).to.deep.equal([]);
    // The app that has adopted it follows it for good.
    expect((await api.send("DELETE", `/v1/contracts/${address}`)).status).to.equal(404);
    const { contracts } = await api.ok<Shape<"ContractsPage">>("GET", "/v1/contracts");
    expect(contracts.flatMap((one) => (one.address === address ? one.state : []))).to.deep.equal(["followed"]);
    expect(await listed(mine, api)).to.deep.equal([`${address} 1`]);
    expect(await ownerOf(address, 2)).to.equal(theirs);
  });

  it("needs the signature of the owner or an admin for this app and contract, and no contract of the service", async () => {
    const other = await moneta.createApp("other");
    const contract = await new WizardERC721__factory(owner).deploy(owner.address, 1);
    const address = await contract.getAddress();
    const right = await signed(address, owner);
    const denied = ["adoption_not_permitted", "signature"];
    expect(await refusal(await signed(address, stranger))).to.deep.equal(denied);
    expect(await refusal({ ...(await signed(address, stranger)), signer: stranger.address })).to.deep.equal(denied);
    expect(await refusal(right, other)).to.deep.equal(denied);
    expect(await refusal({ ...right, nonce: `0x${"00".repeat(32)}` })).to.deep.equal(denied);
    expect(await refusal({ ...right, expiry: 1 })).to.deep.equal(["adoption_not_permitted", "expiry"]);
    const own = await api.collection({ type: "ERC721" });
    expect(await refusal({ ...right, address: own })).to.deep.equal(["contract_not_supported", "address"]);
    const { domain } = await api.ok<TypedText>("POST", "/v1/collections/adopt/text", { address });
    const body = { address: domain["verifyingContract"] };
    const answer = await api.send("POST", "/v1/collections/adopt/text", body);
    expect(answer.status).to.equal(422);
  });

  it("bounds what a contract can claim that lies: tokens that were never minted, were minted twice, or move from nobody", async () => {
    const contract = await new HostileERC721__factory(owner).deploy();
    const address = await contract.getAddress();
    await (await contract.claim(0, owner.address)).wait();
    const [alice, bob] = [await api.wallet(), stranger.address];
    await (await contract.spam(ZeroAddress, bob, 1, 2)).wait();
    await (await contract.spam(ZeroAddress, alice, 1, 1)).wait();
    await (await contract.spam(alice, bob, 9, 1)).wait();
    await (await contract.spam(bob, ZeroAddress, 7, 1)).wait();
    await adopt(address);
    const { minted } = await read(address);
    expect(minted).to.equal(4);
    await (await contract.spam(bob, alice, 9, 1)).wait();
    await eventually(async () => ((await ownerOf(address, 9)) === alice ? true : undefined));
    expect((await listed(alice, api)).sort()).to.deep.equal([`${address} 1`, `${address} 9`]);
  });
});
