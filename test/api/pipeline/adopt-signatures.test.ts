import { expect } from "chai";
import { AbiCoder, concat, id, type JsonRpcSigner, Signature, toBeHex, Wallet, ZeroAddress } from "ethers";

import type { Shape } from "../../../client/client.ts";
import { HostileERC721__factory } from "../../../types/ethers-contracts/factories/mocks/HostileERC721__factory.ts";
import { LyingCollection__factory } from "../../../types/ethers-contracts/factories/mocks/LyingCollection__factory.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import type { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";
import { adoptUnread, type ChangedText, foreignRow, readBack, readNow, signedAdoption } from "../support/adopt.ts";

const ERC721 = "0x80ac58cd";
const [YES, IS_VALID] = ["0x".concat("1".padStart(64, "0")), "isValidSignature(bytes32,bytes)"];
/** What a contract answers that takes a signature (ERC-1271). */
const VALID = id(IS_VALID).slice(0, 10).padEnd(66, "0");
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const DENIED = ["adoption_not_permitted", "signature"];
const WEEK = 7 * 86_400;

describe("the permission to adopt a contract", () => {
  const moneta = useService();
  const { api } = moneta;
  let owner: JsonRpcSigner;
  let stranger: JsonRpcSigner;
  before(async () => {
    [owner, stranger] = [await moneta.provider.getSigner(3), await moneta.provider.getSigner(4)];
  });

  const contractOf = async (address: string) =>
    (await new WizardERC721__factory(stranger).deploy(address, 1)).getAddress();

  const signed = (
    address: string,
    { by = owner, as = api, change = {} }: { by?: JsonRpcSigner | Wallet; as?: ApiClient; change?: ChangedText } = {},
  ) => signedAdoption(as, address, by, change);

  /** @returns the code and the field of the refusal; "adopted" if there is none. */
  async function outcome(body: Record<string, unknown>) {
    const { status, body: answer } = await api.send("POST", "/v1/collections/adopt", body);
    if (status === 200) return "adopted";
    const { error_code: code, errors = [] } = answer as { error_code: string; errors?: { field: string }[] };
    return [code, errors[0]?.field];
  }

  it("takes both forms of an account's signature, once and again, and none with a high s", async () => {
    const address = await contractOf(owner.address);
    const body = await signed(address);
    const { r, s, v, compactSerialized } = Signature.from(body.signature);
    const high = concat([r, toBeHex(CURVE_ORDER - BigInt(s), 32), toBeHex(v === 27 ? 28 : 27, 1)]);
    expect(await outcome({ ...body, signature: high })).to.deep.equal(DENIED);
    for (const signature of ["0x00", `0x${"00".repeat(65)}`, `0x${"ff".repeat(65)}`, `${body.signature}00`])
      expect(await outcome({ ...body, signature }), signature).to.deep.equal(DENIED);
    expect(await outcome({ ...body, signature: compactSerialized })).to.equal("adopted");
    // It names the app, so the same app can use it again. It changes nothing.
    expect(await outcome(body)).to.equal("adopted");
    expect(await outcome(await signed(await contractOf(owner.address)))).to.equal("adopted");
  });

  it("holds for one chain, relay, app, contract and nonce, and until it expires", async () => {
    const other = await moneta.createApp("other");
    const address = await contractOf(owner.address);
    for (const domain of [{ chainId: 1 }, { verifyingContract: stranger.address }, { name: "Another" }])
      expect(await outcome(await signed(address, { change: { domain } }))).to.deep.equal(DENIED);
    const another = { contract: await contractOf(owner.address) };
    expect(await outcome(await signed(address, { change: { message: another } }))).to.deep.equal(DENIED);
    expect(await outcome(await signed(address, { as: other }))).to.deep.equal(DENIED);
    const right = await signed(address);
    expect(await outcome({ ...right, nonce: id("another") })).to.deep.equal(DENIED);
    expect(await outcome({ ...right, expiry: right.expiry + 1 })).to.deep.equal(DENIED);
    const now = Math.floor(Date.now() / 1_000);
    for (const expiry of [now - 1, now, now + WEEK + 120])
      expect(await outcome(await signed(address, { change: { message: { expiry } } }))).to.deep.equal([
        "adoption_not_permitted",
        "expiry",
      ]);
    expect(await outcome(await signed(address, { change: { message: { expiry: now + 60 } } }))).to.equal("adopted");
  });

  it("is asked of an owner with code (ERC-1271), within limits", async () => {
    const account = await new LyingCollection__factory(owner).deploy(ERC721);
    const address = await contractOf(await account.getAddress());
    const body = { ...(await signed(address)), signature: `0x${"ab".repeat(200)}` };
    const selector = id(IS_VALID).slice(0, 10);
    for (const answer of ["0x", YES, VALID.slice(0, 10), VALID.concat("00".repeat(32)), `0x${"ff".repeat(32)}`]) {
      await (await account.program(selector, answer)).wait();
      expect(await outcome(body), answer).to.deep.equal(DENIED);
    }
    await (await account.program(selector, VALID)).wait();
    expect(await outcome(body)).to.equal("adopted");

    const hostile = await new HostileERC721__factory(owner).deploy();
    const owned = await contractOf(await hostile.getAddress());
    for (const mode of [1, 2, 3]) {
      await (await hostile.program(mode)).wait();
      expect(await outcome({ ...body, address: owned }), mode.toString()).to.deep.equal(DENIED);
    }
  });

  it("is given by the key of an account with a delegate (EIP-7702), or by its delegate", async () => {
    const wallet = Wallet.createRandom();
    const delegate = await new LyingCollection__factory(owner).deploy(ERC721);
    await moneta.provider.send("hardhat_setCode", [wallet.address, concat(["0xef0100", await delegate.getAddress()])]);
    const account = new Wallet(wallet.privateKey);
    const [one, two] = [await contractOf(wallet.address), await contractOf(wallet.address)];
    const body = { ...(await signed(two, { by: account })), signature: "0xab" };
    expect(await outcome(body)).to.deep.equal(DENIED);
    expect(await outcome(await signed(one, { by: account }))).to.equal("adopted");
    const delegated = LyingCollection__factory.connect(wallet.address, owner);
    await (await delegated.program(id(IS_VALID).slice(0, 10), VALID)).wait();
    expect(await outcome(body)).to.equal("adopted");
    // The account itself is not a token contract.
    expect(await outcome({ ...body, address: wallet.address })).to.deep.equal(["contract_not_supported", "address"]);
  });

  it("is not given by a contract that has no owner, or that gives its role to everybody", async () => {
    const contract = await new LyingCollection__factory(owner).deploy(ERC721);
    const address = await contract.getAddress();
    const program = async (signature: string, answer: string) =>
      (await contract.program(id(signature).slice(0, 10), answer)).wait();
    const body = await signed(address, { by: stranger });
    for (const signer of [stranger.address, ZeroAddress, undefined])
      expect(await outcome({ ...body, signer }), signer).to.deep.equal(DENIED);
    await program("hasRole(bytes32,address)", YES);
    for (const signer of [stranger.address, address, ZeroAddress, undefined])
      expect(await outcome({ ...body, signer }), signer).to.deep.equal(DENIED);
    await program("owner()", AbiCoder.defaultAbiCoder().encode(["address"], [stranger.address]));
    expect(await outcome(body)).to.equal("adopted");
  });

  it("is that of the owner who is stored, if the contract names others at each call", async () => {
    const address = await contractOf(owner.address);
    let calls = 0;
    moneta.intercept = ({ method, params }) => {
      const [call] = params as [{ to?: string; data?: string }?];
      if (method !== "eth_call" || call?.to?.toLowerCase() !== address.toLowerCase()) return undefined;
      if (call.data !== id("owner()").slice(0, 10)) return undefined;
      const named = calls++ % 2 === 0 ? stranger.address : owner.address;
      return { result: AbiCoder.defaultAbiCoder().encode(["address"], [named]) };
    };
    const answer = await api.ok<Shape<"Collection">>(
      "POST",
      "/v1/collections/adopt",
      await signed(address, { by: stranger }),
    );
    expect([answer.owner, calls]).to.deep.equal([stranger.address, 1]);
  });

  it("is enough if the code of the contract is gone when it is read", async () => {
    const address = await contractOf(owner.address);
    await adoptUnread(moneta, address, "ERC721");
    await moneta.provider.send("hardhat_setCode", [address, "0x"]);
    await readNow(moneta, address);
    await readBack(moneta, address);
    // It is asked again who owns it, and says nothing.
    await readNow(moneta, address);
    await eventually(async () => (Number((await foreignRow(moneta, address)).due_at) > Date.now() ? true : undefined));
    const { collection } = await api.ok<Shape<"NftsPage">>("GET", `/v1/collections/${address}`);
    expect(collection).to.include({ minted: 1, name: "Unread" });
    expect(collection.adopted?.state).to.equal("followed");
  });
});
