import { expect } from "chai";
import { getAddress, type JsonRpcSigner, Wallet } from "ethers";

import { readMeta } from "../../../api/store/db/meta.ts";
import { readLane } from "../../../api/store/sending/lanes.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import { PlainERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC1155__factory.ts";
import { ProgrammableReceiver__factory } from "../../../types/ethers-contracts/factories/mocks/ProgrammableReceiver__factory.ts";
import { RejectingReceiver__factory } from "../../../types/ethers-contracts/factories/mocks/RejectingReceiver__factory.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { Mode } from "../../support/receiver-mode.ts";
import { useService } from "../../support/use-service.ts";

const WITHOUT_CODE = Wallet.createRandom().address;
/** Code that stops without an answer. */
const SILENT = "0x00";
/** Code that uses about 1,300,000 gas for its memory, and then stops. */
const EXPENSIVE = "0x6001620c39005200";

describe("receivers", () => {
  const moneta = useService();
  const { api } = moneta;
  let outsider: JsonRpcSigner;
  before(async () => {
    outsider = await moneta.provider.getSigner(3);
  });

  async function accountWith(code: string): Promise<string> {
    const { address } = Wallet.createRandom();
    await moneta.provider.send("hardhat_setCode", [address, code]);
    return address;
  }

  async function delegatedTo(contract: string): Promise<string> {
    const account = Wallet.createRandom().connect(moneta.provider);
    const authorization = await account.authorize({ address: contract, nonce: 0 });
    await (await outsider.sendTransaction({ to: outsider.address, authorizationList: [authorization] })).wait();
    expect(await moneta.provider.getCode(account.address)).to.equal(`0xef0100${contract.slice(2).toLowerCase()}`);
    return account.address;
  }

  async function programmed(mode: number): Promise<string> {
    const receiver = await new ProgrammableReceiver__factory(outsider).deploy();
    await (await receiver.program(mode)).wait();
    return receiver.getAddress();
  }

  async function withoutHooks(): Promise<string> {
    return (await new RejectingReceiver__factory(outsider).deploy()).getAddress();
  }

  function transferOf(contract: string, from: string, to: string, tokenId: number) {
    return { from_address: from, to_address: to, contract_address: contract, token_id: tokenId };
  }

  async function nextNonce(): Promise<number | undefined> {
    return (await readLane(moneta.service.database.read, 0))?.next_nonce;
  }

  describe("that do not take a token", () => {
    const receivers: Record<string, () => Promise<string>> = {
      "a contract that stops without an answer": () => accountWith(SILENT),
      "a contract that returns nothing": () => programmed(Mode.nothing),
      "a contract that reverts without a reason": () => programmed(Mode.empty),
      "a contract that reverts with a megabyte": () => programmed(Mode.revertMegabyte),
      "a contract that burns all gas": () => programmed(Mode.burn),
      "a contract that returns a wrong value": () => programmed(Mode.lie),
      "a contract without hooks": () => withoutHooks(),
      "an account that delegated to a contract that answers nothing": async () =>
        delegatedTo(await accountWith(SILENT)),
      "an account that delegated to a contract without hooks": async () => delegatedTo(await withoutHooks()),
      "an account that delegated to an address without code": () => delegatedTo(WITHOUT_CODE),
    };
    const kinds = ["mint", "mint of copies", "transfer", "transfer of copies", "foreign", "foreign copies"] as const;
    const addresses = new Map<string, string>();
    const requests = new Map<string, RequestBody>();
    let nonces: (number | undefined)[] = [];

    before("send each kind of request to each of them", async function () {
      this.timeout(120_000);
      const names = Object.keys(receivers);
      const [wallet, other] = [await api.wallet(), await api.wallet()];
      const single = await api.collection({ type: "ERC721" });
      const copies = await api.collection({ type: "ERC1155" });
      const mint = { collection_address: single, to_address: wallet };
      const ids = await api.acceptBatch("/v1/nfts/batch", Array(names.length).fill(mint));
      await Promise.all(ids.map((id) => api.settled(id)));
      const create = { collection_address: copies, token_id: 1, initial_supply: 1_000, initial_owner: wallet };
      await api.completed("/v1/nfts", create);
      const foreign = await new PlainERC721__factory(outsider).deploy();
      const foreignCopies = await new PlainERC1155__factory(outsider).deploy();
      for (let id = 0; id <= names.length; id += 1) await (await foreign.mint(wallet, id)).wait();
      await (await foreignCopies.mint(other, 1, 1_000)).wait();
      // From here on the first wallet has delegated, the other one has not.
      await api.completed("/v1/transfers", transferOf(foreign.target as string, wallet, other, 0));
      for (const [name, make] of Object.entries(receivers)) addresses.set(name, await make());
      const first = await nextNonce();
      const sent = names.map((name, index) => {
        const [to, id] = [addresses.get(name) ?? "", index + 1];
        const done = {
          mint: api.done("/v1/nfts", { collection_address: single, to_address: to }),
          "mint of copies": api.done("/v1/nfts", {
            ...{ collection_address: copies, token_id: 1, quantity: 1, to_address: to },
          }),
          transfer: api.done("/v1/transfers", transferOf(single, wallet, to, id)),
          "transfer of copies": api.done("/v1/transfers", { ...transferOf(copies, wallet, to, 1), amount: 1 }),
          foreign: api.done("/v1/transfers", transferOf(foreign.target as string, wallet, to, id)),
          "foreign copies": api.done("/v1/transfers", {
            ...transferOf(foreignCopies.target as string, other, to, 1),
            amount: 1,
          }),
        };
        return kinds.map(async (kind) => requests.set(`${kind} to ${name}`, await done[kind]));
      });
      await Promise.all(sent.flat());
      nonces = [first, await nextNonce()];
    });

    for (const name of Object.keys(receivers)) {
      it(`fails every request for ${name}, before it is sent`, async () => {
        const address = addresses.get(name) ?? "";
        const code = await moneta.provider.getCode(address);
        const delegate = code.startsWith("0xef0100") ? getAddress(`0x${code.slice(8)}`) : null;
        for (const kind of kinds) {
          const request = requests.get(`${kind} to ${name}`);
          expect(request, kind).to.include({ status: "failed", error_code: "receiver_rejected" });
          expect(request, kind).to.include({ transaction_hash: null });
          if (delegate === null) continue;
          const words = `The account ${getAddress(address)} has delegated to the contract ${delegate} (EIP-7702)`;
          expect(request?.errors?.[0]?.message, kind).to.contain(words);
        }
        expect(nonces[1]).to.equal(nonces[0]);
      });
    }
  });

  describe("that take a token", () => {
    it("get it: contracts with hooks, accounts that delegated to such, and contracts that destroyed themselves", async () => {
      const collection = await api.collection({ type: "ERC721" });
      const accepting = await programmed(Mode.accept);
      // Its constructor destroys it.
      const gone = await (await outsider.sendTransaction({ data: "0x33ff" })).wait();
      for (const to of [accepting, await delegatedTo(accepting), gone?.contractAddress ?? ""])
        await api.completed("/v1/nfts", { collection_address: collection, to_address: to });
    });
  });

  describe("after a batch", () => {
    /** Accepts a request, changes the chain while its transaction is on the way, and lets the transaction arrive. */
    async function changedOnTheWay(accept: () => Promise<string>, change: () => Promise<unknown>) {
      const held: string[] = [];
      moneta.intercept = ({ method, params }) => {
        if (method !== "eth_sendRawTransaction") return undefined;
        held.push(params[0] as string);
        return { result: `0x${"0".repeat(64)}` };
      };
      const id = await accept();
      const raw = await eventually(() => Promise.resolve(held[0]));
      await change();
      await moneta.provider.send("eth_sendRawTransaction", [raw]).catch(() => undefined);
      return id;
    }

    async function foreignToken() {
      const wallet = await api.wallet();
      const foreign = await new PlainERC721__factory(outsider).deploy();
      await (await foreign.mint(wallet, 1)).wait();
      const contract = await foreign.getAddress();
      return { contract, sendTo: (to: string) => api.accept("/v1/transfers", transferOf(contract, wallet, to, 1)) };
    }

    async function shortages(): Promise<string | null> {
      return readMeta(moneta.service.database.read, "gas_shortage");
    }

    it("reports a receiver that answered nothing only on chain as one that rejects", async () => {
      const [receiver, wallet] = [await programmed(Mode.nothingOnChain), await api.wallet()];
      const collection = await api.collection({ type: "ERC721" });
      const items = [wallet, receiver].map((to) => ({ collection_address: collection, to_address: to }));
      const before = await shortages();
      const ids = await api.acceptBatch("/v1/nfts/batch", items);
      const [good, bad] = await Promise.all(ids.map((id) => api.settled(id)));
      expect(good?.status).to.equal("completed");
      expect(bad).to.include({ status: "failed", error_code: "receiver_rejected" });
      expect(bad?.transaction_hash).to.equal(good?.transaction_hash);
      expect(bad?.errors?.[0]?.message).to.match(
        /^The contract 0x\w{40} does not take the token: it gave no valid answer/,
      );
      expect(await shortages()).to.equal(before);
    });

    it("reports a receiver of a foreign token that has changed meanwhile", async () => {
      const { sendTo } = await foreignToken();
      const receiver = await programmed(Mode.accept);
      const id = await changedOnTheWay(
        () => sendTo(receiver),
        () => moneta.provider.send("hardhat_setCode", [receiver, SILENT]),
      );
      const request = await api.settled(id);
      expect(request).to.include({ status: "failed", error_code: "receiver_rejected" });
      expect(request.transaction_hash).to.be.a("string");
    });

    it("does not blame the receiver of a foreign token when the contract itself reverts without a reason", async () => {
      const { contract, sendTo } = await foreignToken();
      const receiver = await programmed(Mode.accept);
      const id = await changedOnTheWay(
        () => sendTo(receiver),
        () => moneta.provider.send("hardhat_setCode", [contract, "0x5f5ffd"]),
      );
      expect(await api.settled(id)).to.include({ status: "failed", error_code: "execution_reverted" });
    });

    it("reports a call that needs more gas than its limit, and measures the costs again", async () => {
      const { contract, sendTo } = await foreignToken();
      const id = await changedOnTheWay(
        async () => sendTo(await api.wallet()),
        () => moneta.provider.send("hardhat_setCode", [contract, EXPENSIVE]),
      );
      const request = await api.settled(id);
      expect(request).to.include({ status: "failed", error_code: "out_of_gas" });
      expect(request.errors?.[0]?.message).to.equal(
        "The call ran out of gas: it used up its limit of 1000000. The costs are measured again: send a new request.",
      );
      expect(await shortages()).to.equal(request.transaction_hash);
    });

    it("says only that the call reverted when the node has pruned the state before the block", async () => {
      const { contract, sendTo } = await foreignToken();
      const id = await changedOnTheWay(
        async () => sendTo(await api.wallet()),
        async () => {
          await moneta.provider.send("hardhat_setCode", [contract, EXPENSIVE]);
          moneta.intercept = ({ method, params: [, block] }) =>
            ["eth_call", "eth_getCode"].includes(method) && typeof block === "object"
              ? { error: { code: -32000, message: "missing trie node" } }
              : undefined;
        },
      );
      expect(await api.settled(id)).to.include({ status: "failed", error_code: "execution_reverted" });
    });
  });
});
