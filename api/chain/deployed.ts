import type { ContractRunner } from "ethers";

import { CollectionFactory__factory } from "../../contracts/generated/factories/CollectionFactory__factory.ts";
import { Relay__factory } from "../../contracts/generated/factories/Relay__factory.ts";
import { WalletDelegate__factory } from "../../contracts/generated/factories/WalletDelegate__factory.ts";
import type { ContractAddresses } from "./contracts.ts";

/** The service's contracts as callable objects, to administer them. */
export function connectContracts(addresses: ContractAddresses, runner: ContractRunner) {
  return {
    relay: Relay__factory.connect(addresses.relay, runner),
    factory: CollectionFactory__factory.connect(addresses.factory, runner),
    delegate: WalletDelegate__factory.connect(addresses.delegate, runner),
  };
}
