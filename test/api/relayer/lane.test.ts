import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { type JsonRpcSigner, Wallet } from "ethers";

import { abi } from "../../../api/chain/abi.ts";
import type { Command } from "../../../api/domain/command.ts";
import { batchGas, BatchSlots, itemGas, type SimulatedGas } from "../../../api/relayer/gas.ts";
import { readGasMeasurement } from "../../../api/store/requests/gas-measurement.ts";
import { insertRequest } from "../../../api/store/requests/requests.ts";
import { ERC721Collection__factory } from "../../../contracts/generated/factories/ERC721Collection__factory.ts";
import { poison } from "../../../scripts/scene/poison.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { parkedIds } from "../../support/poison.ts";
import { useService } from "../../support/use-service.ts";
import { creation } from "../support/rows.ts";

describe("Lane", () => {
  const moneta = useService();
  const { api } = moneta;
  let outsider: JsonRpcSigner;

  before(async () => {
    outsider = await moneta.provider.getSigner(3);
  });

  /** Stores a request that the API would reject. */
  async function smuggle(command: Command): Promise<string> {
    const id = randomBytes(32).toString("hex");
    const type = command.kind === "transfer" ? "transfer" : "collection";
    await moneta.service.database.write((trx) =>
      insertRequest(trx, {
        id,
        appId: moneta.app.appId,
        type,
        command,
        unlockable: null,
        collection: null,
        tokenId: null,
        now: Date.now(),
      }),
    );
    return id;
  }

  describe("given requests that cannot be encoded as a contract call", () => {
    it("fails each of them with a reason, and sends the others at once", async () => {
      const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
      const unencodable = await Promise.all([
        smuggle(creation({ name: "x".repeat(70_000) })),
        smuggle(creation({ name: "\ud800" })),
        smuggle(creation({ maxSupply: 2 ** 70 })),
        smuggle({
          kind: "transfer",
          contract: collection,
          contractType: "ERC721",
          foreign: false,
          from: outsider.address,
          to,
          tokenId: "1",
          quantity: "1",
        }),
      ]);
      const good = await api.accept("/v1/nfts", { collection_address: collection, to_address: to });
      expect((await api.settled(good)).status).to.equal("completed");
      const failed = await Promise.all(unencodable.map((id) => api.settled(id)));
      expect(failed.map(({ status, error_code: code, transaction_hash: hash }) => [status, code, hash])).to.deep.equal(
        Array(4).fill(["failed", "execution_reverted", null]),
      );
      expect(failed[0]?.errors?.[0]?.message).to.match(/^Name, symbol and URIs need \d+ bytes together/);
      expect(failed[3]?.errors?.[0]?.message).to.equal("The request cannot be encoded as a contract call.");
    });
  });

  describe("given a batch that cannot be committed", () => {
    it("sends nothing of it to the chain", async () => {
      const { database } = moneta.service;
      const collection = await api.collection({ type: "ERC721" });
      const to = Wallet.createRandom().address;
      const when = `new.command like '%${to}%' and new.status = 'processing'`;
      const cure = await poison(database, { table: "requests", event: "update", when });
      const id = await api.accept("/v1/nfts", { collection_address: collection, to_address: to });
      await eventually(async () => ((await parkedIds(database, "request")).includes(id) ? true : undefined));
      const contract = ERC721Collection__factory.connect(collection, moneta.provider);
      expect(await contract.totalMinted()).to.equal(0n);
      await cure();
    });
  });

  describe("gas of an item", () => {
    const slotsOf = (commands: Command[]) => BatchSlots.of(moneta.service.database.read, commands);

    /** Gas that one request's transaction used, and gas that the relayer counted for it. */
    async function measured(path: string, body: Record<string, unknown>, simulated: SimulatedGas) {
      const request = await api.completed(path, body);
      const receipt = await moneta.provider.getTransactionReceipt(request.transaction_hash ?? "");
      const sent = await moneta.provider.getTransaction(request.transaction_hash ?? "");
      const row = await moneta.service.database.read
        .selectFrom("requests")
        .select("command")
        .where("id", "=", request.request_id)
        .executeTakeFirstOrThrow();
      if (receipt === null || sent === null) throw new Error("it is in a block");
      const [calls] = abi.relay.decodeFunctionData("execute", sent.data) as unknown as [
        { target: string; number: bigint; data: string; gasLimit: bigint }[],
      ];
      expect(calls).to.have.length(1);
      const [call] = calls;
      if (call === undefined) throw new Error("one call");
      const command = JSON.parse(row.command) as Command;
      const { measurement } = await readGasMeasurement(moneta.service.database.read);
      if (measurement === null) throw new Error("the service has not measured the costs");
      // As they were before the request: the recipient held nothing.
      const [before, after] = [await slotsOf([]), await slotsOf([command])];
      const slots = { ...before.find(command), storage: after.find(command).storage };
      const gas = itemGas(measurement, { command, data: call.data, slots, toWallet: true }, simulated, 1_000_000);
      if (simulated !== "unknown") expect(Number(call.gasLimit)).to.equal(gas.limit);
      // Without the item's limit and the reserve, which only the relay's checks need.
      const { target, number, data } = call;
      const counted = { target, number, data, gas: { ...gas, limit: 0 } };
      return {
        kind: command.kind,
        used: Number(receipt.gasUsed),
        counted: batchGas(measurement, [counted], sent.type === 4 ? 1 : 0).expected,
        limit: gas.limit,
        sent: Number(sent.gasLimit),
      };
    }

    it("covers what each kind of request uses", async () => {
      const [alice, bob] = [await api.wallet(), await api.wallet()];
      const erc721 = await api.collection({ type: "ERC721" });
      const erc1155 = await api.collection({ type: "ERC1155" });
      const plain = await new PlainERC721__factory(outsider).deploy();
      await (await plain.mint(alice, 1)).wait();
      const long = `https://a.example/${"x".repeat(2_000)}`;
      const collection = { type: "ERC721", name: "n", symbol: "s" };
      const editions = { collection_address: erc1155, initial_owner: alice, initial_supply: 5 };
      const moved = { from_address: alice, to_address: bob, token_id: 1 };
      const calls: [path: string, body: Record<string, unknown>, simulated?: "unknown"][] = [
        ["/v1/collections", collection],
        ["/v1/collections", { ...collection, base_uri: long, collection_uri: long }],
        [
          "/v1/collections",
          { type: "ERC1155", name: "n".repeat(256), symbol: "s", seller_fee_basis_points: 500, fee_recipient: alice },
        ],
        ["/v1/nfts", { collection_address: erc721, to_address: alice }],
        ["/v1/nfts", { ...editions, token_id: 1 }],
        ["/v1/nfts", { ...editions, token_id: 2, uri: long }],
        ["/v1/nfts", { collection_address: erc1155, to_address: bob, token_id: 1, quantity: 5 }],
        ["/v1/transfers", { ...moved, contract_address: erc721 }],
        ["/v1/transfers", { ...moved, contract_address: erc1155, amount: 2 }],
        ["/v1/transfers", { ...moved, contract_address: await plain.getAddress() }, "unknown"],
      ];
      for (const [path, body, simulated = "own code"] of calls) {
        const { kind, used, counted, sent, limit } = await measured(path, body, simulated);
        const words = `${kind}: used ${used.toString()}, counted ${counted.toString()}, limit ${limit.toString()}, sent ${sent.toString()}`;
        expect(used, words).to.be.below(counted);
        expect(sent, words).to.be.above(used);
      }
    });
  });
});
