import type { Interface } from "ethers";

import { CollectionFactory__factory } from "../../../types/ethers-contracts/factories/CollectionFactory__factory.ts";
import { ERC1155Collection__factory } from "../../../types/ethers-contracts/factories/ERC1155Collection__factory.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { PlainERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC1155__factory.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import { Relay__factory } from "../../../types/ethers-contracts/factories/Relay__factory.ts";
import { eventually } from "../../support/eventually.ts";
import type { ServiceFixture } from "../../support/service.ts";
import { follow } from "./follow.ts";
import type { Random } from "../../../scripts/scene/random.ts";

const ERC721 = ERC721Collection__factory.createInterface();
const ERC1155 = ERC1155Collection__factory.createInterface();
const PLAIN_ERC721 = PlainERC721__factory.createInterface();
const PLAIN_ERC1155 = PlainERC1155__factory.createInterface();
const RELAY = Relay__factory.createInterface();
/** What ERC-165 calls ERC-1155. */
const ERC1155_ID = "0xd9b67a26";
/** A stranger's address: no wallet of the service. */
const STRANGER = "0x000000000000000000000000000000000000dEaD";
/** Before the service's batches in a block, or after them. */
const TIPS = { first: 500_000_000_000, last: 1_000_000_000 };

interface Held {
  contract: string;
  owner: string;
  token_id: string;
}

/** A chain with a random history: requests of the service, and what others do with its collections and with foreign ones. */
export class RandomHistory {
  readonly #moneta: ServiceFixture;
  readonly #random: Random;
  #owner = "";
  #relay = "";
  #nonce = 0;
  #wallets: string[] = [];
  #erc721: string[] = [];
  #erc1155: string[] = [];
  foreign = { erc721: "", erc1155: "" };
  #nextId = 0;
  /** Signed transactions. */
  #held: string[] = [];

  constructor(moneta: ServiceFixture, random: Random) {
    this.#moneta = moneta;
    this.#random = random;
  }

  /** Creates collections, wallets with tokens, and followed contracts. The service indexes them. */
  async prepare(): Promise<void> {
    const { api, provider, service, app } = this.#moneta;
    const owner = await provider.getSigner(0);
    this.#owner = owner.address;
    this.#relay = service.contracts.relay;
    this.#wallets = await Promise.all([api.wallet(), api.wallet(), api.wallet()]);
    const [hosted, itself] = [{ type: "ERC721" } as const, { type: "ERC721", base_uri: "https://x.test/" } as const];
    this.#erc721 = [await api.collection({ ...hosted, mint_supply_count: 5_000 }), await api.collection(itself)];
    this.#erc1155 = [await api.collection({ type: "ERC1155" })];
    const plain = [
      await (await new PlainERC721__factory(owner).deploy()).getAddress(),
      await (await new PlainERC1155__factory(owner).deploy()).getAddress(),
    ];
    this.foreign = { erc721: plain[0] ?? "", erc1155: plain[1] ?? "" };
    await follow(service.database, { app: app.appId, address: this.foreign.erc721 });
    await follow(service.database, { app: app.appId, address: this.foreign.erc1155, type: "ERC1155" });
    for (const collection of [...this.#erc721, ...this.#erc1155]) {
      await (await ERC721Collection__factory.connect(collection, owner).setMinter(this.#owner, true)).wait();
    }
    for (const to of this.#wallets) {
      for (const collection of this.#erc721) {
        const mint = { collection_address: collection, to_address: to };
        await Promise.all([1, 2, 3].map(() => api.completed("/v1/nfts", mint)));
      }
      const [copies = ""] = this.#erc1155;
      const create = { collection_address: copies, initial_owner: to, token_id: ++this.#nextId, initial_supply: 9 };
      await api.completed("/v1/nfts", create);
    }
    await provider.send("evm_setAutomine", [false]);
  }

  /** Goes on from the chain's present state, also after a reorg. */
  async startAtHead(): Promise<void> {
    this.#nonce = await this.#moneta.provider.getTransactionCount(this.#owner, "pending");
  }

  /** Sends a group of requests, and waits until their transactions are sent. The blocks follow later. */
  async request(): Promise<void> {
    const { api } = this.#moneta;
    const held = await this.#heldTokens();
    const wanted = Array.from({ length: this.#random.integer(0, 11) + 3 }, () => this.#anyRequest(held));
    // Some are refused: nobody has the token.
    const answers = await Promise.all(wanted.map(([method, path, body]) => api.send(method, path, body)));
    const ids = answers.flatMap(({ body }) => (typeof body["request_id"] === "string" ? [body["request_id"]] : []));
    const read = this.#moneta.service.database.read;
    await eventually(async () => {
      const rows = await read
        .selectFrom("requests")
        .select("status")
        .where("id", "in", [...ids, ""])
        .execute();
      return rows.every(({ status }) => status !== "pending") ? true : undefined;
    });
    if (this.#random.chance(0.5)) await this.#cancelSome(ids);
    // Mints fail in the next block, and in no other.
    if (!this.#random.chance(0.5)) return;
    const collection = this.#random.pick([...this.#erc721, ...this.#erc1155]);
    await this.#send(collection, ERC721, "setMinter", [this.#relay, false], TIPS.first);
    await this.#send(collection, ERC721, "setMinter", [this.#relay, true], TIPS.last);
  }

  #heldTokens(): Promise<Held[]> {
    const held = this.#moneta.service.database.read.selectFrom("holdings").select(["contract", "owner", "token_id"]);
    const own = [...this.#erc721, ...this.#erc1155];
    return held.where("owner", "in", this.#wallets).where("contract", "in", own).execute();
  }

  #anyRequest(held: readonly Held[]): [string, string, Record<string, unknown>] {
    const random = this.#random;
    const to = random.pick([...this.#wallets, STRANGER]);
    const collection = random.pick(this.#erc721);
    const copies = random.pick(this.#erc1155);
    switch (random.integer(0, 6)) {
      case 0:
        return ["POST", "/v1/collections", { name: "New", symbol: "N", type: random.pick(["ERC721", "ERC1155"]) }];
      case 1:
        return [
          "POST",
          "/v1/nfts",
          { collection_address: copies, initial_owner: to, token_id: ++this.#nextId, initial_supply: 3 },
        ];
      case 2:
        return ["PATCH", `/v1/collections/${collection}`, { description: random.integer(0, 98).toString() }];
      case 3:
      case 4: {
        const { contract, owner, token_id } = random.pick(held);
        const token = { contract_address: contract, token_id: Number(token_id), amount: 1 };
        return ["POST", "/v1/transfers", { ...token, from_address: owner, to_address: to }];
      }
      default:
        return ["POST", "/v1/nfts", { collection_address: collection, to_address: to }];
    }
  }

  /** Cancels numbers in front of the batch that carries them. */
  async #cancelSome(ids: readonly string[]): Promise<void> {
    const { service } = this.#moneta;
    const rows = await service.database.read
      .selectFrom("requests")
      .select("number")
      .where("id", "in", [...ids, ""])
      .execute();
    const numbers = rows.flatMap(({ number }) => (number !== null && this.#random.chance(0.2) ? [BigInt(number)] : []));
    if (numbers.length > 0) await this.#send(this.#relay, RELAY, "cancel", [numbers], TIPS.first);
  }

  /** Something that is not done by the service. */
  async outside(): Promise<void> {
    const random = this.#random;
    const to = random.pick([...this.#wallets, STRANGER, this.#owner]);
    const collection = random.pick(this.#erc721);
    const copies = random.pick(this.#erc1155);
    const id = random.integer(0, 39) + 1;
    const tip = random.chance(0.3) ? TIPS.first : TIPS.last;
    const owner = this.#owner;
    const { erc721, erc1155 } = this.foreign;
    const calls: (() => Promise<void>)[] = [
      () => this.#send(collection, ERC721, "mint", [to], tip),
      () => this.#send(collection, ERC721, "mint", [owner], tip),
      () => this.#send(collection, ERC721, "transferFrom", [owner, to, id], tip),
      () => this.#send(collection, ERC721, "burn", [id], tip),
      () => this.#send(copies, ERC1155, "create", [to, random.chance(0.3) ? ++this.#nextId : id, 5, "ipfs://a"], tip),
      () => this.#send(copies, ERC1155, "mint", [random.pick([to, owner]), id, 2], tip),
      () => this.#send(copies, ERC1155, "safeTransferFrom", [owner, to, id, 1, "0x"], tip),
      () => this.#send(copies, ERC1155, "burn", [owner, id, 1], tip),
      () => this.#send(copies, ERC1155, "setTokenURI", [id, `ipfs://${random.integer(0, 8).toString()}`], tip),
      () => this.#send(collection, ERC721, "setBaseURI", [`https://${random.integer(0, 8).toString()}/`], tip),
      () => this.#send(collection, ERC721, "lowerMaxSupply", [1_000 + random.integer(0, 899)], tip),
      () => this.#send(collection, ERC721, random.chance(0.1) ? "renounceOwnership" : "freezeMetadata", [], tip),
      () => this.#send(erc721, PLAIN_ERC721, "mint", [to, id], tip),
      () => this.#send(erc721, PLAIN_ERC721, "mint", [owner, id + 40], tip),
      () => this.#send(erc721, PLAIN_ERC721, "transferFrom", [owner, to, id + 40], tip),
      () => this.#send(erc721, PLAIN_ERC721, "burn", [id + 40], tip),
      () => this.#send(erc1155, PLAIN_ERC1155, "mint", [random.pick([to, owner]), id % 5, 3], tip),
      () => this.#send(erc1155, PLAIN_ERC1155, "safeTransferFrom", [owner, to, id % 5, 1, "0x"], tip),
    ];
    await random.pick(calls)();
  }

  async #send(to: string, abi: Interface, name: string, args: unknown[], tip: number): Promise<void> {
    const hex = (value: number) => `0x${value.toString(16)}`;
    await this.#moneta.provider.send("eth_sendTransaction", [
      {
        from: this.#owner,
        to,
        data: abi.encodeFunctionData(name, args),
        nonce: hex(this.#nonce++),
        gas: hex(300_000),
        maxPriorityFeePerGas: hex(tip),
        maxFeePerGas: hex(2_000_000_000_000),
      },
    ]);
  }

  /** The collections that exist by now: what requests have created gets mints by others, too. */
  async adoptNewCollections(): Promise<void> {
    const { provider } = this.#moneta;
    const factory = CollectionFactory__factory.createInterface();
    const topics = factory.encodeFilterTopics("CollectionCreated", []);
    for (const log of await provider.getLogs({ topics, fromBlock: 0, toBlock: "latest" })) {
      const address = factory.parseLog(log)?.args["collection"] as string;
      if ([...this.#erc721, ...this.#erc1155].includes(address)) continue;
      const isCopies = await ERC1155Collection__factory.connect(address, provider).supportsInterface(ERC1155_ID);
      (isCopies ? this.#erc1155 : this.#erc721).push(address);
      await this.#send(address, ERC721, "setMinter", [this.#owner, true], TIPS.first);
    }
  }

  async mine(): Promise<void> {
    if (this.#held.length > 0 && this.#random.chance(0.4)) await this.#sendHeld();
    await this.#moneta.provider.send("evm_mine", []);
  }

  /** Takes the batches that are in no block out of the node's pool. From now on blocks contain them now and then. */
  async holdBatches(): Promise<void> {
    const { provider } = this.#moneta;
    const { read } = this.#moneta.service.database;
    const rows = await read.selectFrom("attempts").select(["hash", "raw"]).orderBy("id").execute();
    for (const { hash, raw } of rows) {
      if (raw === null || (await provider.getTransactionReceipt(hash)) !== null) continue;
      await provider.send("hardhat_dropTransaction", [hash]);
      this.#held.push(raw);
    }
  }

  /** Sends some of these batches. A reorg may have dropped them, so all are tried again, in the order of their nonces. */
  async #sendHeld(): Promise<void> {
    for (const raw of this.#held) {
      if (this.#random.chance(0.1)) return;
      // It is in a block or in the pool already.
      await this.#moneta.provider.send("eth_sendRawTransaction", [raw]).catch(() => undefined);
    }
  }
}
