import { type JsonRpcSigner, NonceManager } from "ethers";

import { WizardERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC1155__factory.ts";
import { WizardRolesERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardRolesERC721__factory.ts";

export interface Contract {
  type: "ERC721" | "ERC1155";
  address: string;
}

/** How large the move is. */
export interface Size {
  /** Tokens of each contract. */
  tokens: number;
  /** Their holders, each with as many tokens. */
  holders: number;
  /** Holders that get their tokens in one transaction. */
  atOnce: number;
  types: readonly Contract["type"][];
}

/** Deploys a contract of each type, and gives their tokens to the holders. @param url of the server that has the metadata. */
export async function deployWizards(
  owner: JsonRpcSigner,
  { tokens, atOnce, types }: Size,
  holders: readonly string[],
  url: string,
): Promise<Contract[]> {
  const signer = new NonceManager(owner);
  const share = tokens / holders.length;
  const contracts: Contract[] = [];
  for (const type of types) {
    const single = type === "ERC721" ? await new WizardRolesERC721__factory(signer).deploy(owner.address, 0) : null;
    const contract = single ?? (await new WizardERC1155__factory(signer).deploy(owner.address));
    await contract.waitForDeployment();
    for (let at = 0; at < holders.length; at += atOnce) {
      const some = holders.slice(at, at + atOnce);
      const sent =
        "setBaseURI" in contract ? contract.mintEach(some, share) : contract.mintEach(some, share, at * share);
      await (await sent).wait();
    }
    const set =
      "setBaseURI" in contract ? contract.setBaseURI(`${url}/721/`) : contract.setURI(`${url}/1155/{id}.json`);
    await (await set).wait();
    contracts.push({ type, address: await contract.getAddress() });
  }
  return contracts;
}

/** Their owner lets the relay mint. */
export async function letMint(owner: JsonRpcSigner, { address }: Contract, relay: string): Promise<void> {
  const contract = WizardRolesERC721__factory.connect(address, owner);
  await (await contract.grantRole(await contract.MINTER_ROLE(), relay)).wait();
}
