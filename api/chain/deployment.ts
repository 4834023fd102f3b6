import { concat, getCreate2Address, Interface, keccak256, type Provider, ZeroHash } from "ethers";

import { CollectionFactory__factory } from "../../contracts/generated/factories/CollectionFactory__factory.ts";
import { CompactERC721Collection__factory } from "../../contracts/generated/factories/CompactERC721Collection__factory.ts";
import { ERC1155Collection__factory } from "../../contracts/generated/factories/ERC1155Collection__factory.ts";
import { ERC721Collection__factory } from "../../contracts/generated/factories/ERC721Collection__factory.ts";
import { Relay__factory } from "../../contracts/generated/factories/Relay__factory.ts";
import { WalletDelegate__factory } from "../../contracts/generated/factories/WalletDelegate__factory.ts";
import type { CollectionStorage } from "../domain/command.ts";

/** The contracts of a deployment, in this order: the later ones take addresses of earlier ones. */
export const STEPS = ["relay", "erc721Implementation", "erc1155Implementation", "factory", "delegate"] as const;
export type Step = (typeof STEPS)[number];

/** The contracts that are already placed, by step. */
export type Placed = Partial<Record<Step, string>>;

/** The implementation of ERC721 collections by their storage. */
export const ERC721_IMPLEMENTATIONS = {
  compact: CompactERC721Collection__factory,
  standard: ERC721Collection__factory,
} as const satisfies Record<CollectionStorage, unknown>;

/** The other contracts. */
const CONTRACTS = {
  relay: Relay__factory,
  erc721Implementation: null,
  erc1155Implementation: ERC1155Collection__factory,
  factory: CollectionFactory__factory,
  delegate: WalletDelegate__factory,
} as const satisfies Record<Step, unknown>;

/** The creation code without arguments, and the name of the contract. */
export function creationBytecode(step: Step, storage: CollectionStorage): { name: string; bytecode: string } {
  const { name, bytecode } = CONTRACTS[step] ?? ERC721_IMPLEMENTATIONS[storage];
  return { name: name.replace("__factory", ""), bytecode };
}

/** Creation code with encoded arguments. Each contract takes addresses of contracts that were placed before it. */
export function initCode(
  step: Step,
  plan: { owner: string; hostedBase: string; storage: CollectionStorage },
  { relay = "", erc721Implementation = "", erc1155Implementation = "" }: Placed,
): string {
  const contract = CONTRACTS[step] ?? ERC721_IMPLEMENTATIONS[plan.storage];
  const args = {
    relay: [plan.owner, plan.hostedBase],
    erc721Implementation: [relay],
    erc1155Implementation: [relay],
    factory: [relay, erc721Implementation, erc1155Implementation],
    delegate: [relay],
  }[step];
  return concat([contract.bytecode, new Interface(contract.abi).encodeDeploy(args)]);
}

/** The CREATE2 deployer, at the same address on most chains (github.com/Arachnid/deterministic-deployment-proxy). */
const CREATE2_DEPLOYER = "0x4e59b44847b379578588920cA78FbF26c0B4956C";

/** @returns the address of the CREATE2 deployer, or null if the chain has none. */
export async function findCreate2Deployer(provider: Provider): Promise<string | null> {
  return (await provider.getCode(CREATE2_DEPLOYER)) === "0x" ? null : CREATE2_DEPLOYER;
}

/** The address that the CREATE2 deployer gives to a contract. */
export function create2Address(deployer: string, code: string): string {
  return getCreate2Address(deployer, ZeroHash, keccak256(code));
}

/** The transaction that deploys a contract, through the CREATE2 deployer if there is one. */
export function deploymentTransaction(create2Deployer: string | null, code: string): { to?: string; data: string } {
  return create2Deployer === null ? { data: code } : { to: create2Deployer, data: concat([ZeroHash, code]) };
}
