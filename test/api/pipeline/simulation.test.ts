import { expect } from "chai";
import type { JsonRpcSigner } from "ethers";

import { readLane } from "../../../api/store/sending/lanes.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import type { ProgrammableReceiver } from "../../../types/ethers-contracts/mocks/ProgrammableReceiver.ts";
import { ProgrammableReceiver__factory } from "../../../types/ethers-contracts/factories/mocks/ProgrammableReceiver__factory.ts";
import { Relay__factory } from "../../../types/ethers-contracts/factories/Relay__factory.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { Mode } from "../../support/receiver-mode.ts";
import { useService } from "../../support/use-service.ts";

describe("requests whose simulation fails", () => {
  const moneta = useService();
  const { api } = moneta;
  let outsider: JsonRpcSigner;
  let receiver: ProgrammableReceiver;
  let refusing: string;

  before(async () => {
    outsider = await moneta.provider.getSigner(3);
    receiver = await new ProgrammableReceiver__factory(outsider).deploy();
    refusing = await receiver.getAddress();
  });
  beforeEach(() => program(Mode.reason));

  async function program(mode: number): Promise<void> {
    await (await receiver.program(mode)).wait();
  }

  async function nextNonce(): Promise<number> {
    const lane = await readLane(moneta.service.database.read, 0);
    if (lane === undefined) throw new Error("lane 0 has sent something");
    return lane.next_nonce;
  }

  /** Asserts that the request fails with the code, without a transaction. */
  async function failsUnsent(run: () => Promise<RequestBody>, code: string): Promise<RequestBody> {
    const before = await nextNonce();
    const request = await run();
    expect(request).to.include({ status: "failed", error_code: code, transaction_hash: null, block_number: null });
    expect(await nextNonce()).to.equal(before);
    return request;
  }

  describe("given a receiver that rejects the token", () => {
    it("fails an ERC721 mint before sending, and releases its supply reservation", async () => {
      const collection = await api.collection({ type: "ERC721", mint_supply_count: 1 });
      const failed = await failsUnsent(
        () => api.done("/v1/nfts", { collection_address: collection, to_address: refusing }),
        "receiver_rejected",
      );
      expect(failed.errors?.[0]?.message).to.match(/^The contract call reverted with unknown data: 0x63c38351/);
      const minted = await api.completed("/v1/nfts", {
        collection_address: collection,
        to_address: await api.wallet(),
      });
      expect(minted.nft_token_id).to.equal(1);
    });

    it("fails ERC1155 mints and transfers too, and releases the copies", async () => {
      const [collection, wallet] = [await api.collection({ type: "ERC1155" }), await api.wallet()];
      const create = { collection_address: collection, token_id: 1, initial_supply: 5 };
      await failsUnsent(() => api.done("/v1/nfts", { ...create, initial_owner: refusing }), "receiver_rejected");
      await api.completed("/v1/nfts", { ...create, initial_owner: wallet });
      await failsUnsent(
        () => api.done("/v1/nfts", { collection_address: collection, to_address: refusing, token_id: 1, quantity: 2 }),
        "receiver_rejected",
      );
      const transfer = { from_address: wallet, contract_address: collection, token_id: 1, amount: 5 };
      await failsUnsent(() => api.done("/v1/transfers", { ...transfer, to_address: refusing }), "receiver_rejected");
      await api.completed("/v1/transfers", { ...transfer, to_address: await api.wallet() });
    });

    it("fails the transfer of a foreign token, whether or not its wallet has delegated yet", async () => {
      const wallet = await api.wallet();
      const plain = await new PlainERC721__factory(outsider).deploy();
      for (const id of [1, 2, 3]) await (await plain.mint(wallet, id)).wait();
      const transfer = (id: number, to: string) => ({
        from_address: wallet,
        to_address: to,
        contract_address: plain.target as string,
        token_id: id,
      });
      await program(Mode.lie);
      await failsUnsent(() => api.done("/v1/transfers", transfer(1, refusing)), "receiver_rejected");
      expect(await moneta.provider.getCode(wallet)).to.equal("0x");
      await api.completed("/v1/transfers", transfer(2, await api.wallet()));
      expect(await moneta.provider.getCode(wallet)).to.match(/^0xef0100/);
      await failsUnsent(() => api.done("/v1/transfers", transfer(3, refusing)), "receiver_rejected");
    });
  });

  describe("given a receiver that needs more gas than an item may have", () => {
    it("fails with the gas figures, and sends nothing", async () => {
      await program(Mode.useTwoMillionGas);
      const collection = await api.collection({ type: "ERC721" });
      const failed = await failsUnsent(
        () => api.done("/v1/nfts", { collection_address: collection, to_address: refusing }),
        "out_of_gas",
      );
      expect(failed.errors?.[0]?.message).to.match(
        /^The request needs about \d{7} gas\. One request may use 1000000 \(MAX_ITEM_GAS\)\.$/,
      );
    });
  });

  describe("given an owner who removes the service as minter while a mint is pending", () => {
    it("fails the mint without sending it", async () => {
      const owner = await moneta.provider.getSigner(4);
      const collection = await api.collection({ type: "ERC721", new_owner: owner.address });
      await failsUnsent(async () => {
        // The lane cannot send without knowing its funds.
        moneta.intercept = ({ method }) =>
          method === "eth_getBalance" ? { error: { code: -32000, message: "?" } } : undefined;
        const id = await api.accept("/v1/nfts", { collection_address: collection, to_address: await api.wallet() });
        const { relay } = moneta.service.contracts;
        await (await ERC721Collection__factory.connect(collection, owner).setMinter(relay, false)).wait();
        moneta.intercept = null;
        return api.settled(id);
      }, "service_cannot_mint");
    });
  });

  describe("given a receiver that accepts only in the simulation", () => {
    it("fails only its own call on chain", async () => {
      await program(Mode.acceptSimulated);
      const [collection, wallet] = [await api.collection({ type: "ERC721" }), await api.wallet()];
      // Accepted in one commit, they share a batch.
      const items = [wallet, refusing].map((to) => ({ collection_address: collection, to_address: to }));
      const ids = await api.acceptBatch("/v1/nfts/batch", items);
      const [good, bad] = await Promise.all(ids.map((id) => api.settled(id)));
      expect([good?.status, good?.nft_token_id]).to.deep.equal(["completed", 1]);
      expect([bad?.status, bad?.error_code]).to.deep.equal(["failed", "receiver_rejected"]);
      expect(bad?.transaction_hash).to.equal(good?.transaction_hash);
    });
  });

  describe("given a node that does not finish the simulation", () => {
    it("sends the request", async () => {
      await program(Mode.accept);
      const collection = await api.collection({ type: "ERC721" });
      // The service treats an answer that takes too long like one that is not valid.
      moneta.intercept = ({ method }) => (method === "eth_estimateGas" ? { result: "?" } : undefined);
      await api.completed("/v1/nfts", { collection_address: collection, to_address: refusing });
    });
  });

  describe("given a node whose head is behind the checkpoint", () => {
    for (const [result, mode] of [
      ["a failed simulation", Mode.reason],
      ["a simulation that needs more gas than an item may have", Mode.useTwoMillionGas],
    ] as const) {
      it(`ignores ${result}`, async () => {
        await program(mode);
        const collection = await api.collection({ type: "ERC721" });
        const behind: unknown = await moneta.provider.send("eth_getBlockByNumber", ["latest", false]);
        await program(Mode.accept);
        await moneta.caughtUp();
        let asked = 0;
        moneta.intercept = ({ method, params }) => {
          // The service measures what its own calls cost now and then.
          const concerns = JSON.stringify(params).toLowerCase().includes(refusing.slice(2).toLowerCase());
          if (method === "eth_estimateGas" && concerns) asked += 1;
          return method === "eth_getBlockByNumber" && params[0] === "latest" ? { result: behind } : undefined;
        };
        const mint = await api.completed("/v1/nfts", { collection_address: collection, to_address: refusing });
        expect(mint.nft_token_id).to.equal(1);
        expect(asked).to.equal(1);
      });
    }
  });

  describe("given a request that is already signed", () => {
    it("waits for the outcome on chain", async () => {
      await program(Mode.accept);
      const collection = await api.collection({ type: "ERC721" });
      const relay = Relay__factory.connect(moneta.service.contracts.relay, await moneta.provider.getSigner(0));
      const held: string[] = [];
      moneta.intercept = ({ method, params }) => {
        if (method !== "eth_sendRawTransaction") return undefined;
        held.push(params[0] as string);
        return { result: `0x${"0".repeat(64)}` };
      };
      const id = await api.accept("/v1/nfts", { collection_address: collection, to_address: refusing });
      const raw = await eventually(() => Promise.resolve(held[0]));
      // The batch reverts as a whole, so the request is returned. By then its receiver rejects the token.
      await (await relay.pause()).wait();
      await moneta.provider.send("eth_sendRawTransaction", [raw]).catch(() => undefined);
      await program(Mode.reason);
      await (await relay.unpause()).wait();
      moneta.intercept = null;
      const request = await api.settled(id);
      expect(request).to.include({ status: "failed", error_code: "receiver_rejected" });
      expect(request.block_number).to.be.a("number");
    });
  });
});
