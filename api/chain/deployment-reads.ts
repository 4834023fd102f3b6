import { ZeroAddress } from "ethers";

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
  /** The relays of the implementations that the factory uses. */
  erc721Relay: string | null;
  erc1155Relay: string | null;
  hostedBase: string | null;
}

export async function readDeploymentLinks(client: ChainClient, contracts: ContractAddresses): Promise<DeploymentLinks> {
  const { factory, delegate } = contracts;
  const [factoryRelay, delegateRelay, hostedBase, erc721, erc1155] = await client.tryCalls([
    { to: factory, data: abi.factory.encodeFunctionData("relay") },
    { to: delegate, data: abi.delegate.encodeFunctionData("relay") },
    { to: contracts.relay, data: abi.relay.encodeFunctionData("hostedBaseURI") },
    { to: factory, data: abi.factory.encodeFunctionData("erc721Implementation") },
    { to: factory, data: abi.factory.encodeFunctionData("erc1155Implementation") },
  ]);
  const relay = abi.erc721.encodeFunctionData("relay");
  // The zero address has no code and answers nothing.
  const [erc721Relay, erc1155Relay] = await client.tryCalls(
    [erc721, erc1155].map((answer) => ({ to: addressOf(answer) ?? ZeroAddress, data: relay })),
  );
  return {
    factoryRelay: addressOf(factoryRelay),
    delegateRelay: addressOf(delegateRelay),
    erc721Relay: addressOf(erc721Relay),
    erc1155Relay: addressOf(erc1155Relay),
    hostedBase: stringOf(hostedBase),
  };
}
