import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";
import { type JsonRpcSigner, type TypedDataDomain, type TypedDataField, zeroPadValue } from "ethers";

import { createApp } from "../../../api/operate/apps.ts";
import { OperatorError } from "../../../api/operate/operator-error.ts";
import type { Shape } from "../../../client/client.ts";
import { MintableERC721__factory } from "../../../types/ethers-contracts/factories/mocks/MintableERC721__factory.ts";
import { WizardERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC1155__factory.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { ApiClient } from "../../support/api-client.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useFolder } from "../../support/use-folder.ts";
import { useService } from "../../support/use-service.ts";
import { runAnswering, runCli } from "../cli/support/run.ts";
import { adopted, grantMinter, mintingContract, relayOf, settledMint, switchMinting } from "../support/mint-adopted.ts";

/** As in the contract. */
const ODD = { no: 0, none: 1, two: 2, other: 3, readsMore: 4, otherId: 5 } as const;

interface TypedText {
  domain: TypedDataDomain;
  types: Record<string, TypedDataField[]>;
  message: Record<string, unknown>;
}

describe("minting into an adopted contract", () => {
  // `doctor` calls each adopted contract, and those of other files can take all gas.
  const moneta = useService({ node: "deployed", proxy: true });
  const { api } = moneta;
  const folder = useFolder();
  let owner: JsonRpcSigner;
  let stranger: JsonRpcSigner;
  let relay: string;

  before(async () => {
    [owner, stranger] = [await moneta.provider.getSigner(3), await moneta.provider.getSigner(4)];
    relay = await relayOf(moneta);
  });

  async function mintable() {
    const contract = await new MintableERC721__factory(owner).deploy(owner.address);
    const address = await contract.getAddress();
    await adopted(moneta, address);
    return { contract, address };
  }
  const ready = (appId?: string) => mintingContract(moneta, owner, appId);
  const minting = (address: string, ...words: string[]) => switchMinting(moneta, address, ...words);
  const refusalOf = async (address: string, ...words: string[]) => {
    const error = await rejectionOf(runCli(moneta.env, "collection", "minting", address, ...words));
    expect(error).to.be.instanceOf(OperatorError);
    return error.message;
  };
  const stateOf = async (address: string) =>
    (await api.ok<Shape<"NftsPage">>("GET", `/v1/collections/${address}`)).collection.adopted;
  const requestOf = (id: string) => api.ok<Shape<"Request">>("GET", `/v1/requests/${id}`);
  it("makes the tokens that its requests name, with metadata that are served here, many in a transaction", async () => {
    const { contract, address } = await mintable();
    expect(await refusalOf(address)).to.match(/grantRole\(bytes32,address\)/);
    await grantMinter(contract, relay);
    const on = await minting(address);
    expect(on).to.include({ mint_function: "safeMint({to:address},{token_id:uint256})", rights_known: true });
    expect((await stateOf(address))?.minting).to.deep.equal({ function: on.mint_function, stopped: null });

    const wallet = await api.wallet();
    const ids = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        api.accept("/v1/nfts", {
          ...{ collection_address: address, to_address: wallet, token_id: 100 + index },
          ...{ name: `Cat ${index.toString()}`, unlockable_content: "secret" },
        }),
      ),
    );
    for (const id of ids) await api.settled(id);
    const made = await Promise.all(ids.map(requestOf));
    expect(made.map((request) => [request.status, request.nft_token_id])).to.deep.equal(
      ids.map((_, index) => ["completed", 100 + index]),
    );
    expect(new Set(made.map((request) => request.transaction_hash)).size).to.be.lessThan(5);
    const { nfts } = await api.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${wallet}/${address}`);
    const held = nfts.map((nft) => [nft.token_id, nft.metadata?.name, nft.unlockable_content]);
    expect(held.sort(([a], [b]) => Number(a) - Number(b))).to.deep.equal(
      ids.map((_, index) => [100 + index, `Cat ${index.toString()}`, "secret"]),
    );
    const served = await fetch(`${moneta.baseUrl}/metadata/31337/${address}/100`);
    expect(await served.json()).to.include({ name: "Cat 0" });
    expect((await stateOf(address))?.minting?.stopped).to.equal(null);

    // An id that exists: only the contract knows, so the request fails on the chain.
    const again = await settledMint(moneta, { collection_address: address, to_address: wallet, token_id: 100 });
    expect([again.status, again.error_code]).to.deep.equal(["failed", "execution_reverted"]);
    expect(await moneta.provider.getCode(address)).to.not.equal("0x");
  });

  it("makes copies in an ERC1155 contract, of new ids and of others", async () => {
    const contract = await new WizardERC1155__factory(owner).deploy(owner.address);
    const address = await contract.getAddress();
    await adopted(moneta, address);
    await grantMinter(contract, relay);
    expect((await minting(address)).mint_function).to.match(/^mint\(/);
    const wallet = await api.wallet();
    const made = await settledMint(moneta, {
      ...{ collection_address: address, token_id: 7, initial_supply: 5, initial_owner: wallet, name: "Seven" },
    });
    expect([made.status, made.nft_token_id]).to.deep.equal(["completed", 7]);
    const more = await settledMint(moneta, {
      collection_address: address,
      token_id: 7,
      quantity: 3,
      to_address: wallet,
    });
    expect(more.status).to.equal("completed");
    const { body } = await api.send("POST", "/v1/nfts", {
      ...{ collection_address: address, token_id: 8, initial_supply: 5, initial_owner: wallet, quantity: 9 },
    });
    expect(body).to.deep.include({ error_code: "validation_failed" });
    expect(JSON.stringify(body)).to.match(/quantity.*conflict/);
    const { owners } = await api.ok<Shape<"Erc1155Nft">>("GET", `/v1/collections/${address}/7`);
    expect(owners.map(({ address: holder, quantity }) => [holder, quantity])).to.deep.equal([[wallet, 8]]);
  });

  it("names the fields that its function does not take, and those that it needs", async () => {
    const { address } = await ready();
    const wallet = await api.wallet();
    const codes = async (fields: Record<string, unknown>) => {
      const { body } = await api.send("POST", "/v1/nfts", { collection_address: address, ...fields });
      return (body as { errors: { field: string; code: string }[] }).errors.map(
        ({ field, code }) => `${field} ${code}`,
      );
    };
    expect(await codes({ to_address: wallet })).to.deep.equal(["token_id required"]);
    expect(await codes({ to_address: wallet, token_id: 1, uri: "https://example.org" })).to.deep.equal([
      "uri not_allowed",
    ]);
    expect(await codes({ to_address: wallet, token_id: 1, quantity: 2 })).to.deep.equal(["quantity not_allowed"]);
    await runCli(moneta.env, "collection", "minting", address, "--off");
    expect(await codes({ to_address: wallet, token_id: 1 })).to.deep.equal(["collection_address service_cannot_mint"]);
  });

  for (const what of ["none", "two", "other", "otherId"] as const)
    it(`stops, and never sends a mint again that has made ${what}`, async () => {
      const { contract, address } = await ready();
      await (await contract.setOdd(ODD[what])).wait();
      const wallet = await api.wallet();
      const odd = await settledMint(moneta, { collection_address: address, to_address: wallet, token_id: 5 });
      expect([odd.status, odd.nft_token_id]).to.deep.equal(["completed", null]);
      expect((await stateOf(address))?.minting?.stopped).to.contain(odd.request_id);
      const { status, body } = await api.send("POST", "/v1/nfts", {
        ...{ collection_address: address, to_address: wallet, token_id: 6 },
      });
      expect(status).to.equal(422);
      expect(body).to.include({ error_code: "service_cannot_mint" });
      expect((await runCli(moneta.env, "doctor")).output).to.match(new RegExp(`warning +minting +.*${address}`));
      // The operator confirms it.
      await (await contract.setOdd(ODD.no)).wait();
      await minting(address);
      expect(
        (await settledMint(moneta, { collection_address: address, to_address: wallet, token_id: 6 })).nft_token_id,
      ).to.equal(6);
    });

  it("stops with a new owner, until that one signs or the operator allows it", async () => {
    const { contract, address } = await ready();
    const wallet = await api.wallet();
    await (await contract.transferOwnership(stranger.address)).wait();
    const { status, error_code: code } = await settledMint(moneta, {
      collection_address: address,
      to_address: wallet,
      token_id: 1,
    });
    expect([status, code]).to.deep.equal(["failed", "service_cannot_mint"]);
    expect((await stateOf(address))?.minting?.stopped).to.contain(stranger.address);
    const text = await runCli(moneta.env, "collection", "minting", address);
    expect(text.remarks).to.contain(`Let ${stranger.address} sign`);
    const file = join(folder.path, "text.json");
    await writeFile(file, text.output);
    const { domain, types, message } = JSON.parse(text.output) as TypedText;
    const { EIP712Domain: _domain, ...own } = types;
    const signed = (by: JsonRpcSigner) => by.signTypedData(domain, own, message);
    expect(await refusalOf(address, "--text", file, "--signature", await signed(owner))).to.contain(
      "Must be the signature",
    );
    expect((await minting(address, "--text", file, "--signature", await signed(stranger))).owner).to.equal(
      stranger.address,
    );
    expect(
      (await settledMint(moneta, { collection_address: address, to_address: wallet, token_id: 1 })).status,
    ).to.equal("completed");
  });

  it("asks an owner who came after the adoption", async () => {
    const { contract, address } = await mintable();
    await grantMinter(contract, relay);
    await (await contract.transferOwnership(stranger.address)).wait();
    expect((await runCli(moneta.env, "collection", "minting", address)).remarks).to.contain(`Let ${stranger.address}`);
    expect((await stateOf(address))?.minting).to.equal(null);
    expect((await minting(address, "--allow")).owner).to.equal(stranger.address);
  });

  it("asks a new owner also after minting was off", async () => {
    const { contract, address } = await ready();
    await (await contract.transferOwnership(stranger.address)).wait();
    await runCli(moneta.env, "collection", "minting", address, "--off");
    expect((await stateOf(address))?.minting).to.equal(null);
    expect((await runCli(moneta.env, "doctor")).output).to.not.contain(address);
    expect((await runCli(moneta.env, "collection", "minting", address)).remarks).to.contain("Let ");
    expect((await stateOf(address))?.minting).to.equal(null);
    expect((await runCli(moneta.env, "collection", "minting", address, "--off")).output).to.contain("as it was");
  });

  it("delays nobody else while nobody can say what the contract is now", async () => {
    const [odd, other] = [await ready(), await ready()];
    const wallet = await api.wallet();
    const fields = (address: string) => ({ collection_address: address, to_address: wallet, token_id: 1 });
    const asksOwner = { to: odd.address.toLowerCase(), data: odd.contract.interface.encodeFunctionData("owner") };
    moneta.intercept = ({ method, params }) => {
      const { to = "", data = "" } = (method === "eth_call" ? params[0] : {}) as { to?: string; data?: string };
      const isAsked = to.toLowerCase() === asksOwner.to && data === asksOwner.data;
      return isAsked ? { error: { code: -39_999, message: "?" } } : undefined;
    };
    const waiting = await api.accept("/v1/nfts", fields(odd.address));
    expect((await settledMint(moneta, fields(other.address))).status).to.equal("completed");
    const { status, waiting_for: reason } = await requestOf(waiting);
    expect([status, reason]).to.deep.equal(["pending", "simulation"]);
    moneta.intercept = null;
    expect((await api.settled(waiting)).status).to.equal("completed");
  });

  it("lets no call of another app mint into a contract within the same transaction", async () => {
    const { token, appId } = await createApp(moneta.service, "hostile");
    const other = ApiClient.at(moneta.baseUrl, token);
    const [victim, hostile] = [await ready(), await ready(appId)];
    await (await hostile.contract.mintElsewhere(victim.address, { value: 100 })).wait();
    const wallet = await api.wallet();
    const fields = (address: string, id: number) => ({ collection_address: address, to_address: wallet, token_id: id });
    const ids: string[] = [];
    const accepting = Array.from({ length: 6 }, async (_, index) => {
      ids.push(await api.accept("/v1/nfts", fields(victim.address, index)));
      await other.accept("/v1/nfts", fields(hostile.address, index));
    });
    await Promise.all(accepting);
    for (const id of ids) await api.settled(id);
    const made = await Promise.all(ids.map(requestOf));
    expect(made.filter((request) => request.nft_token_id === null)).to.deep.equal([]);
    expect((await stateOf(victim.address))?.minting?.stopped).to.equal(null);
  });

  it("stops when the code of the contract changes", async () => {
    const { address } = await ready();
    const wallet = await api.wallet();
    const code = await moneta.provider.getCode(address);
    await moneta.provider.send("hardhat_setCode", [address, `${code}00`]);
    const made = await settledMint(moneta, { collection_address: address, to_address: wallet, token_id: 1 });
    expect([made.status, made.error_code]).to.deep.equal(["failed", "service_cannot_mint"]);
    expect((await stateOf(address))?.minting?.stopped).to.contain("code of the contract has changed");
    await minting(address);
    // What a proxy runs, as EIP-1967 stores it.
    const slot = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";
    await moneta.provider.send("hardhat_setStorageAt", [address, slot, zeroPadValue(stranger.address, 32)]);
    expect(
      (await settledMint(moneta, { collection_address: address, to_address: wallet, token_id: 1 })).status,
    ).to.equal("failed");
    expect((await stateOf(address))?.minting?.stopped).to.contain(stranger.address);
  });

  it("is refused where the relay could do more, and where its rights cannot be checked", async () => {
    const { contract, address } = await mintable();
    await grantMinter(contract, relay);
    await (await contract.grantRole(await contract.DEFAULT_ADMIN_ROLE(), relay)).wait();
    expect(await refusalOf(address)).to.contain("DEFAULT_ADMIN_ROLE");
    await (await contract.revokeRole(await contract.DEFAULT_ADMIN_ROLE(), relay)).wait();
    await (await contract.transferOwnership(relay)).wait();
    expect(await refusalOf(address)).to.contain("it is the owner()");

    // Only its owner can mint.
    const owned = await new WizardERC721__factory(owner).deploy(owner.address, 1);
    await adopted(moneta, await owned.getAddress());
    expect(await refusalOf(await owned.getAddress())).to.contain("Where only the owner can mint, the service cannot");
  });

  it("calls no other function: the operator's is checked, tried and confirmed", async () => {
    const { contract, address } = await ready();
    const refused: Record<string, RegExp> = {
      "approve({to:address},{token_id:uint256})": /not a function that mints/,
      "transferOwnership({to:address})": /not a function that mints/,
      "multicall({data:bytes[]})": /is no argument/,
      "setMinter({to:address},{allowed:bool})": /is no argument/,
      "safeMint({token_id:uint256})": /who gets the token/,
      "safeMint({to:address},{to:address})": /there twice/,
      "buy({to:address},{token_id:uint256})": /no coins/,
      "nothing({to:address})": /cannot mint/,
      "safeMint(address,uint256)": /Write the function as/,
    };
    for (const [text, words] of Object.entries(refused))
      expect(await refusalOf(address, "--mint", text), text).to.match(words);
    await (await contract.setOdd(ODD.readsMore)).wait();
    expect(await refusalOf(address)).to.contain("reads more than its arguments");
    await (await contract.setOdd(ODD.no)).wait();

    const given = ["collection", "minting", address, "--mint", "giveOwnership({to:address})"];
    expect(await rejectionOf(runAnswering(moneta.env, address, ...given))).to.match(/--accept-unknown-rights/);
    const error = await rejectionOf(runAnswering(moneta.env, "yes", ...given, "--accept-unknown-rights"));
    expect(error.message).to.contain("was not typed");
    const { output } = await runAnswering(moneta.env, address, ...given, "--accept-unknown-rights");
    expect(output).to.contain("giveOwnership");
    const collection = await api.collection({ type: "ERC721" });
    expect(await refusalOf(collection)).to.contain("No app has adopted");
    expect(await refusalOf(address, "--mint", `mint({to:address},{token_id:uint256})`)).to.contain("cannot mint");
  });
});
