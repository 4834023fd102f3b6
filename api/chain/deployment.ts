import { concat, getCreate2Address, keccak256, type Provider, ZeroHash } from "ethers";

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

/** Creation code with encoded arguments. Each contract takes addresses of contracts that were placed before it. */
export async function initCode(
  step: Step,
  plan: { owner: string; hostedBase: string; storage: CollectionStorage },
  { relay = "", erc721Implementation = "", erc1155Implementation = "" }: Placed,
): Promise<string> {
  switch (step) {
    case "relay":
      return (await new Relay__factory().getDeployTransaction(plan.owner, plan.hostedBase)).data;
    case "erc721Implementation":
      return (await new ERC721_IMPLEMENTATIONS[plan.storage]().getDeployTransaction(relay)).data;
    case "erc1155Implementation":
      return (await new ERC1155Collection__factory().getDeployTransaction(relay)).data;
    case "factory":
      return (
        await new CollectionFactory__factory().getDeployTransaction(relay, erc721Implementation, erc1155Implementation)
      ).data;
    case "delegate":
      return (await new WalletDelegate__factory().getDeployTransaction(relay)).data;
  }
}

/** The creation code without arguments, and the name of the contract. */
export function creationBytecode(step: Step, storage: CollectionStorage): { name: string; bytecode: string } {
  switch (step) {
    case "relay":
      return { name: "Relay", bytecode: Relay__factory.bytecode };
    case "erc721Implementation":
      return {
        name: storage === "compact" ? "CompactERC721Collection" : "ERC721Collection",
        bytecode: ERC721_IMPLEMENTATIONS[storage].bytecode,
      };
    case "erc1155Implementation":
      return { name: "ERC1155Collection", bytecode: ERC1155Collection__factory.bytecode };
    case "factory":
      return { name: "CollectionFactory", bytecode: CollectionFactory__factory.bytecode };
    case "delegate":
      return { name: "WalletDelegate", bytecode: WalletDelegate__factory.bytecode };
  }
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
