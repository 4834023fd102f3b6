import type { BaseContract } from "ethers";
import { network } from "hardhat";

import {
  encodeErc1155Arguments,
  encodeErc721Arguments,
  type Erc1155Arguments,
  type Erc721Arguments,
} from "../../../api/chain/codec/clone-arguments.ts";
import type { CollectionFactory, IRelay, Relay, WalletDelegate } from "../../../types/ethers-contracts/index.js";

/** All contract tests share one chain. Each test starts from its fixture's snapshot. */
export const { ethers, networkHelpers } = await network.create();

export const HOSTED_BASE_URI = "https://host.example/metadata/";

/** A call through the relay. Number and gas limit have defaults, see {@link toCall}. */
export interface Item {
  readonly target: string;
  readonly data: string;
  readonly number?: bigint;
  readonly gasLimit?: bigint;
}

export interface System {
  readonly relay: Relay;
  readonly factory: CollectionFactory;
  readonly delegate: WalletDelegate;
}

/** The first number. Like the numbers of the service: 64 random bits, then a counter. */
export const EPOCH = 0x1234_5678_9abc_def0n << 32n;

/** How a system stores owners and balances of ERC721 tokens; `weak` is compact, with a hash of a holder of only 4 bits. */
export const STORAGES = ["standard", "compact", "weak"] as const;
export type Storage = (typeof STORAGES)[number];

const ERC721 = {
  standard: "ERC721Collection",
  compact: "CompactERC721Collection",
  weak: "WeakHashCollection",
} as const satisfies Record<Storage, string>;

/** Runs a suite once for each storage: they behave the same. */
export function describeStorages(title: string, suite: (storage: Storage) => void): void {
  for (const storage of STORAGES) {
    describe(storage === "standard" ? title : `${title}, ${storage} storage`, () => {
      suite(storage);
    });
  }
}

/** One fixture for each storage, each always the same function, as `loadFixture` needs it. */
export function fixtures<T>(deploy: (storage: Storage) => Promise<T>): Record<Storage, () => Promise<T>> {
  return { standard: () => deploy("standard"), compact: () => deploy("compact"), weak: () => deploy("weak") };
}

let counter = 0n;

/** Returns a number that no test has used. */
export function nextNumber(): bigint {
  counter += 1n;
  return EPOCH | counter;
}

/** Deploys relay, implementations, factory and delegate. `admin` owns the relay, and `operator` can run batches. */
export async function deploySystem() {
  return deploySystemWith("standard");
}

/** As {@link deploySystem}, with the given storage of ERC721 tokens. */
export async function deploySystemWith(storage: Storage) {
  const [admin, operator, owner, alice, bob, carol, stranger] = await ethers.getSigners();
  const relay = await ethers.deployContract("Relay", [admin!.address, HOSTED_BASE_URI]);
  await relay.connect(admin).setOperator(operator!.address, true);
  const erc721 = await ethers.deployContract(ERC721[storage], [relay.target]);
  const erc1155 = await ethers.deployContract("ERC1155Collection", [relay.target]);
  const factory = await ethers.deployContract("CollectionFactory", [relay.target, erc721.target, erc1155.target]);
  const delegate = await ethers.deployContract("WalletDelegate", [relay.target]);
  return {
    relay: relay.connect(operator),
    factory,
    delegate,
    admin: admin!,
    operator: operator!,
    owner: owner!,
    alice: alice!,
    bob: bob!,
    carol: carol!,
    stranger: stranger!,
  };
}

/** A signer for any address, with coins for gas. */
export async function signerOf(address: string) {
  await networkHelpers.impersonateAccount(address);
  await networkHelpers.setBalance(address, 10n ** 20n);
  return ethers.getSigner(address);
}

/** Returns the item that calls a function of a contract. */
export async function item(contract: BaseContract, fragment: string, ...args: unknown[]): Promise<Item> {
  return { target: await contract.getAddress(), data: contract.interface.encodeFunctionData(fragment, args) };
}

/** Returns the relay's struct for an item, with a fresh number if the item has none. */
export function toCall(item: Item): IRelay.CallStruct {
  return {
    number: item.number ?? nextNumber(),
    target: item.target,
    gasLimit: item.gasLimit ?? 1_000_000n,
    data: item.data,
  };
}

/** Whether the chain follows the rules of the Amsterdam hard fork, where state costs about five times as much. */
export const IN_AMSTERDAM = process.env["HARDFORK"] === "amsterdam";

/** Enough gas for any batch here. An estimate would be too low, because a batch that stops early succeeds. */
export const BATCH_GAS = IN_AMSTERDAM ? 150_000_000n : 16_000_000n;

/** Runs items in one batch. */
export function run(relay: Relay, ...items: Item[]) {
  return relay.execute(items.map(toCall), { gasLimit: BATCH_GAS });
}

const DEFAULTS: Erc721Arguments = {
  hosted: true,
  soulbound: false,
  name: "Harbour Lights",
  symbol: "HARB",
  owner: null,
  maxSupply: 0n,
  royaltyBps: 0,
  royaltyRecipient: null,
  baseUri: "https://app.example/tokens/",
  contractUri: "https://app.example/collection.json",
};

/** Creates an ERC721 collection through the relay. */
export async function createErc721(system: System, overrides: Partial<Erc721Arguments> = {}) {
  const args = encodeErc721Arguments({ ...DEFAULTS, ...overrides });
  const number = nextNumber();
  const address = await system.factory.predictERC721(number, args);
  const data = system.factory.interface.encodeFunctionData("createERC721", [args]);
  await run(system.relay, { target: await system.factory.getAddress(), data, number });
  return ethers.getContractAt("ERC721Collection", address);
}

/** Creates an ERC1155 collection through the relay. */
export async function createErc1155(system: System, overrides: Partial<Erc1155Arguments> = {}) {
  const args = encodeErc1155Arguments({ ...DEFAULTS, baseUri: "https://app.example/{id}.json", ...overrides });
  const number = nextNumber();
  const address = await system.factory.predictERC1155(number, args);
  const data = system.factory.interface.encodeFunctionData("createERC1155", [args]);
  await run(system.relay, { target: await system.factory.getAddress(), data, number });
  return ethers.getContractAt("ERC1155Collection", address);
}
