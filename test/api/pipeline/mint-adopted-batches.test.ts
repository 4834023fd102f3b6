import { createServer } from "node:http";

import { expect } from "chai";
import type { JsonRpcSigner } from "ethers";

import { type Listening, listenOnLoopback } from "../../../scripts/scene/loopback.ts";
import type { Shape } from "../../../client/client.ts";
import { ExtendedERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/ExtendedERC1155__factory.ts";
import { PNG } from "../../support/pictures.ts";
import { useService } from "../../support/use-service.ts";
import { foreignRow } from "../support/adopt.ts";
import { adopted, mintingContract, relayOf, settledMint, switchMinting } from "../support/mint-adopted.ts";

/** As many as one call may have. */
const MANY = 1_000;

describe("minting into an adopted contract: large batches, and media that are copied", () => {
  const moneta = useService();
  const { api } = moneta;
  let owner: JsonRpcSigner;
  let wallet: string;
  let media: Listening;
  const asked: string[] = [];

  before(async () => {
    owner = await moneta.provider.getSigner(3);
    wallet = await api.wallet();
    const server = createServer((request, response) => {
      asked.push(request.url ?? "");
      if (request.url === "/inside") response.writeHead(302, { location: "http://169.254.169.254/" }).end();
      else response.end(PNG);
    });
    media = await listenOnLoopback(server);
  });
  after(() => media.stop());

  it("mints all tokens of a batch, each with its own id, in few transactions", async () => {
    const { contract, address } = await mintingContract(moneta, owner);
    const ids = Array.from({ length: MANY }, (_, index) => index + 1);
    const items = ids.map((id) => ({ collection_address: address, to_address: wallet, token_id: id }));
    const { results } = await api.ok<Shape<"BatchResults">>("POST", "/v1/nfts/batch", { items });
    // One after the other: an address may not have so many connections.
    const requests: Shape<"Request">[] = [];
    for (const result of results) requests.push(await api.settled("request_id" in result ? result.request_id : ""));
    expect(requests.map(({ status, nft_token_id: id }) => `${status} ${String(id)}`)).to.deep.equal(
      ids.map((id) => `completed ${id.toString()}`),
    );
    expect(new Set(requests.map((request) => request.transaction_hash)).size).to.be.lessThan(MANY / 10);
    expect(await contract.balanceOf(wallet)).to.equal(BigInt(MANY));
    expect((await foreignRow(moneta, address)).state).to.equal("followed");
    const { collection } = await api.ok<Shape<"NftsPage">>("GET", `/v1/collections/${address}`);
    expect(collection.adopted?.minting?.stopped).to.equal(null);
  });

  it("copies media before it mints, and fetches nothing from inside", async () => {
    const { contract, address } = await mintingContract(moneta, owner);
    const fields = { collection_address: address, to_address: wallet, copy_media: true, name: "Cat" };
    const copied = await settledMint(moneta, { ...fields, token_id: 1, image: `${media.url}/cat.png` });
    expect([copied.status, copied.nft_token_id]).to.deep.equal(["completed", 1]);
    const served = await api.ok<{ image: string }>("GET", `/metadata/31337/${address}/1`);
    expect(served.image).to.match(/^ipfs:/);
    const inside = await settledMint(moneta, { ...fields, token_id: 2, image: `${media.url}/inside` });
    expect([inside.status, inside.error_code]).to.deep.equal(["failed", "media_blocked"]);
    expect(await contract.balanceOf(wallet)).to.equal(1n);
  });

  it("copies nothing under an id that only the contract chooses", async () => {
    const contract = await new ExtendedERC1155__factory(owner).deploy(owner.address);
    const address = await contract.getAddress();
    await adopted(moneta, address);
    await (await contract.registerExtension(await relayOf(moneta), "")).wait();
    await switchMinting(moneta, address);
    const before = asked.length;
    const token = { initial_owner: wallet, initial_supply: 1, uri: "ipfs://one", name: "Cat", copy_media: true };
    const { body } = await api.send("POST", "/v1/nfts", {
      ...{ collection_address: address, ...token, image: `${media.url}/{token_id}.png` },
    });
    expect(body).to.deep.include({ error_code: "validation_failed" });
    expect(JSON.stringify(body)).to.match(/image.*conflict/);
    expect(asked.length).to.equal(before);
  });
});
