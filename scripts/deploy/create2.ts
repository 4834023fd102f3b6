import { concat, getCreate2Address, keccak256, type Provider, ZeroHash } from "ethers";

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
