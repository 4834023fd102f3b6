import { expect } from "chai";
import { AbiCoder, type BytesLike, id, type JsonRpcSigner, toBeHex, ZeroAddress, ZeroHash, zeroPadValue } from "ethers";

import { createApp } from "../../../api/operate/apps.ts";
import type { Shape } from "../../../client/client.ts";
import { HostileERC721__factory } from "../../../types/ethers-contracts/factories/mocks/HostileERC721__factory.ts";
import { LyingCollection__factory } from "../../../types/ethers-contracts/factories/mocks/LyingCollection__factory.ts";
import { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";
import { adoptAllowed, foreignRow, holdersOf, readBack, wrongTotals } from "../support/adopt.ts";

/** How a contract answers whatever it is asked. */
const HostileMode = { ReturnMegabytes: 1, BurnAllGas: 2, RevertWithMegabytes: 3 };
const [ERC721, ERC1155] = ["0x80ac58cd", "0xd9b67a26"];
const MOST = 2n ** 256n - 1n;
const coder = AbiCoder.defaultAbiCoder();
const SINGLE = id("TransferSingle(address,address,address,uint256,uint256)");
const BATCH = id("TransferBatch(address,address,address,uint256[],uint256[])");
const CONSECUTIVE = id("ConsecutiveTransfer(uint256,uint256,address,address)");

function word(value: bigint | string): string {
  return typeof value === "string" ? zeroPadValue(value, 32) : toBeHex(value, 32);
}
function selector(signature: string): string {
  return id(signature).slice(0, 10);
}

describe("an adopted contract that lies", () => {
  const moneta = useService();
  const { api } = moneta;
  let owner: JsonRpcSigner;
  before(async () => {
    owner = await moneta.provider.getSigner(3);
  });

  async function deploy(interfaceId: string, answers: Record<string, BytesLike> = {}) {
    const contract = await new LyingCollection__factory(owner).deploy(interfaceId);
    for (const [signature, answer] of Object.entries(answers))
      await (await contract.program(selector(signature), answer)).wait();
    const address = await contract.getAddress();
    const emit = async (topics: [string, string, string, string], data: string) =>
      (await contract.emitLog(topics, data)).wait();
    return { contract, address, emit };
  }
  const record = async (address: string) =>
    (await api.ok<Shape<"NftsPage">>("GET", `/v1/collections/${address}`)).collection;

  it("has no more tokens than its logs can name, whatever their numbers are", async () => {
    const { address, emit } = await deploy(ERC721);
    const to = word(owner.address);
    await emit([CONSECUTIVE, word(0n), ZeroHash, to], word(2n ** 255n));
    await emit([CONSECUTIVE, word(9n), ZeroHash, to], word(3n));
    await emit([CONSECUTIVE, word(MOST - 1n), ZeroHash, to], word(MOST));
    await emit([CONSECUTIVE, word(5n), ZeroHash, to], "0x");
    await adoptAllowed(moneta, address);
    await readBack(moneta, address);
    const most = [MOST - 1n, MOST].map((tokenId) => `${tokenId.toString()} ${owner.address} 1`);
    expect(await holdersOf(moneta, address)).to.deep.equal(most.sort());
    expect(await record(address)).to.include({ minted: 2 });
    expect(await wrongTotals(moneta)).to.deep.equal([]);
  });

  it("has quantities as its logs say, also above what a number of Solidity can be", async () => {
    const { address, emit } = await deploy(ERC1155);
    const [wallet, by] = [await api.wallet(), word(owner.address)];
    const mint = coder.encode(["uint256", "uint256"], [1, MOST]);
    for (let count = 0; count < 2; count++) await emit([SINGLE, by, ZeroHash, word(wallet)], mint);
    await emit(
      [BATCH, by, ZeroHash, word(wallet)],
      coder.encode(
        ["uint256[]", "uint256[]"],
        [
          [2, 2],
          [MOST, MOST],
        ],
      ),
    );
    await emit([BATCH, by, ZeroHash, word(wallet)], coder.encode(["uint256[]", "uint256[]"], [[3, 4], [1]]));
    await emit([BATCH, by, ZeroHash, ZeroHash], coder.encode(["uint256[]", "uint256[]"], [[5], [1]]));
    await emit([BATCH, by, ZeroHash, word(wallet)], word(MOST));
    await emit([SINGLE, by, word(wallet), ZeroHash], coder.encode(["uint256", "uint256"], [6, MOST]));
    await adoptAllowed(moneta, address);
    await readBack(moneta, address);
    const twice = (2n * MOST).toString();
    expect(await holdersOf(moneta, address)).to.deep.equal([`1 ${wallet} ${twice}`, `2 ${wallet} ${twice}`]);
    await api.ok("GET", `/v1/collections/${address}`);
    await api.ok("GET", `/v1/collections/${address}/1`);
    await api.ok("GET", `/v1/accounts/${wallet}`);
    expect((await api.send("GET", `/v1/collections/${address}/5`)).status).to.equal(404);
    await emit([SINGLE, by, word(wallet), word(owner.address)], coder.encode(["uint256", "uint256"], [1, MOST]));
    await eventually(async () => ((await holdersOf(moneta, address)).length === 3 ? true : undefined));
    expect(await wrongTotals(moneta)).to.deep.equal([]);
  });

  it("has texts that both databases can store, and the owner and supply that it names last", async () => {
    const { contract, address } = await deploy(ERC721, {
      "name()": coder.encode(["bytes"], ["0x4100ff42"]),
      "symbol()": coder.encode(["string"], [`S\0${"y".repeat(1_000)}`]),
      "totalSupply()": word(MOST),
      "owner()": word(MOST),
    });
    await adoptAllowed(moneta, address);
    await readBack(moneta, address);
    const adopted = await record(address);
    expect(adopted.name).to.equal("");
    expect(adopted.symbol).to.have.length(256);
    expect(adopted.adopted?.total_supply).to.equal(MOST.toString());
    await (await contract.program(selector("totalSupply()"), word(1n))).wait();
    await (await contract.program(selector("owner()"), word(owner.address))).wait();
    await moneta.service.database.write((trx) =>
      trx.updateTable("foreign_contracts").set({ due_at: 1 }).where("address", "=", address).execute(),
    );
    const later = await eventually(async () => {
      const now = await record(address);
      return now.owner === owner.address ? now : undefined;
    });
    expect(later.adopted?.total_supply).to.equal("1");
    expect((await foreignRow(moneta, address)).state).to.equal("followed");
  });

  it("has no texts that are not text, and none that take a megabyte or all gas", async () => {
    for (const bytes of ["0x41eda080", "0xc0af", "0x00"]) {
      const answer = coder.encode(["bytes"], [bytes]);
      const { address } = await deploy(ERC721, { "name()": answer, "symbol()": answer });
      await adoptAllowed(moneta, address);
      for (const text of [(await record(address)).name, (await record(address)).symbol])
        expect(["", "\ufffd"], bytes).to.include(text);
    }
    for (const mode of [HostileMode.ReturnMegabytes, HostileMode.BurnAllGas, HostileMode.RevertWithMegabytes]) {
      const contract = await new HostileERC721__factory(owner).deploy();
      await (await contract.program(mode)).wait();
      await (await contract.spam(ZeroAddress, owner.address, 1, 2)).wait();
      const address = await contract.getAddress();
      await adoptAllowed(moneta, address);
      await readBack(moneta, address);
      expect(await record(address)).to.include({ name: "", symbol: "", owner: ZeroAddress, minted: 2 });
    }
  });

  it("shows nothing to an app that neither has adopted nor follows it, and looks like any contract that nobody has", async () => {
    const [adopted, unknown] = [await deploy(ERC1155), await deploy(ERC1155)];
    const { address } = adopted;
    const { token } = await createApp(moneta.service, `sees nothing of ${address}`);
    const other = ApiClient.at(moneta.baseUrl, token);
    const theirs = await other.wallet("alice");
    const mint = coder.encode(["uint256", "uint256"], [1, 5]);
    const mintTo = (contract: typeof adopted) =>
      contract.emit([SINGLE, word(owner.address), ZeroHash, word(theirs)], mint);
    await mintTo(adopted);
    await mintTo(unknown);
    await adoptAllowed(moneta, address);
    await readBack(moneta, address);
    await mintTo(adopted);
    await moneta.caughtUp();
    const answer = async (path: string, body?: object) => {
      const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
      const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
      const response = await fetch(`${moneta.baseUrl}${path}`, { headers, ...sent });
      return `${response.status.toString()} ${await response.text()}`;
    };
    for (const path of [
      ...["", "/history"].map((end) => `/v1/accounts/${theirs}${end}`),
      ...["collections", "contracts", "requests", "usage", "summary", "accounts", "exports/wallets"].map(
        (name) => `/v1/${name}`,
      ),
      "/v1/events?after=start&types=token.minted,token.received,token.transferred",
    ]) {
      const seen = await answer(path);
      expect(seen, path).to.match(/^200 /);
      expect(seen, path).not.to.include(address);
    }
    const nft = { from_address: theirs, to_address: theirs, token_id: 1, amount: 1 };
    const bodies: Record<string, (contract: string) => object> = {
      "/v1/nfts": (contract) => ({ collection_address: contract, to_address: theirs, token_id: 1, quantity: 1 }),
      "/v1/transfers": (contract) => ({ ...nft, contract_address: contract }),
      "/v1/receivers/check": (contract) => ({ contract_address: contract, addresses: [owner.address] }),
      "/v1/collections/adopt": (contract) => ({
        ...{ address: contract, nonce: ZeroHash, expiry: Math.ceil(Date.now() / 1_000) + 60, signature: "0x00" },
      }),
    };
    const asked = [
      ...["", "/1", "/1/history", "?q=1"].map((end) => [`/v1/collections/#${end}`] as const),
      [`/v1/exports/holders?collection=#`] as const,
      [`/v1/collections/#/freeze`, () => ({})] as const,
      ...Object.entries(bodies),
    ];
    for (const [path, body] of asked) {
      const of = async (contract: string) =>
        (await answer(path.replace("#", contract), body?.(contract))).replaceAll(contract, "#");
      const seen = await of(address);
      expect(seen, path).to.equal(await of(unknown.address));
      expect(seen, path).to.match(/^(?:4|200 .*"accepts")/);
    }
    const held = await other.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${theirs}`);
    expect(held).to.deep.include({ total: 0, nfts: [] });
    expect(await wrongTotals(moneta)).to.deep.equal([]);
  });
});
