import { abi } from "./abi.ts";
import { addressOf, stringOf } from "./call-results.ts";
import type { ChainClient } from "./client.ts";
import type { ContractAddresses } from "./contracts.ts";

const NAMES = ["relay", "factory", "delegate"] as const;
export type ContractName = (typeof NAMES)[number];

/** The service's contracts that have no code on this chain. */
export async function contractsWithoutCode(client: ChainClient, contracts: ContractAddresses): Promise<ContractName[]> {
  const codes = await client.code(NAMES.map((name) => contracts[name]));
  return NAMES.filter((_, index) => (codes[index] ?? "0x") === "0x");
}

/** How the deployed contracts point at each other and at this service. Null: the contract did not answer. */
export interface DeploymentLinks {
  factoryRelay: string | null;
  delegateRelay: string | null;
  hostedBase: string | null;
}

export async function readDeploymentLinks(client: ChainClient, contracts: ContractAddresses): Promise<DeploymentLinks> {
  const [factoryRelay, delegateRelay, hostedBase] = await client.tryCalls([
    { to: contracts.factory, data: abi.factory.encodeFunctionData("relay") },
    { to: contracts.delegate, data: abi.delegate.encodeFunctionData("relay") },
    { to: contracts.factory, data: abi.factory.encodeFunctionData("hostedBaseURI") },
  ]);
  return {
    factoryRelay: addressOf(factoryRelay),
    delegateRelay: addressOf(delegateRelay),
    hostedBase: stringOf(hostedBase),
  };
}
