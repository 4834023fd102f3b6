import { join } from "node:path";

import { getAddress } from "ethers";

/** Addresses of the service's contracts on one chain (EIP-55). */
export interface ContractAddresses {
  relay: string;
  factory: string;
  delegate: string;
  /** Block of the first deployment, or an earlier one. No event of the service is older. */
  deployedAt: number;
}

/** The addresses in checksum form. @throws TypeError when a text is not an address. */
export function contractAddresses(fields: ContractAddresses): ContractAddresses {
  return {
    relay: getAddress(fields.relay),
    factory: getAddress(fields.factory),
    delegate: getAddress(fields.delegate),
    deployedAt: fields.deployedAt,
  };
}

/** The file in which `npm run deploy` records what it deployed on a chain. */
export function deploymentFile(folder: string, chainId: bigint): string {
  return join(folder, `${chainId.toString()}.json`);
}
