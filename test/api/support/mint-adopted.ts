import type { JsonRpcSigner } from "ethers";

import { storedAddresses } from "../../../api/chain/contracts.ts";
import { readContracts } from "../../../api/store/db/meta.ts";
import type { Shape } from "../../../client/client.ts";
import { MintableERC721__factory } from "../../../types/ethers-contracts/factories/mocks/MintableERC721__factory.ts";
import type { ServiceFixture } from "../../support/service.ts";
import { jsonOfCli, runCli } from "../cli/support/run.ts";
import { adoptAllowed, readBack } from "./adopt.ts";

/** What `collection minting` answers. */
export interface Minting {
  mint_function: string;
  owner: string;
  rights_known: boolean;
}

export async function relayOf({ service }: Pick<ServiceFixture, "service">): Promise<string> {
  return (await readContracts(service.database.read, storedAddresses))?.relay ?? "";
}

/** Adopts a contract, and waits until it is read. @param appId by default the one of the fixture. */
export async function adopted(moneta: ServiceFixture, address: string, appId?: string): Promise<void> {
  await adoptAllowed(moneta, address, appId === undefined ? {} : { appId });
  await readBack(moneta, address);
}

/** The command, which must succeed. */
export function switchMinting({ env }: Pick<ServiceFixture, "env">, address: string, ...words: string[]) {
  return jsonOfCli<Minting>(env, "collection", "minting", address, ...words);
}

/** Lets the relay mint. */
export async function grantMinter(
  contract: {
    MINTER_ROLE: () => Promise<string>;
    grantRole: (role: string, account: string) => Promise<{ wait: () => Promise<unknown> }>;
  },
  relay: string,
): Promise<void> {
  await (await contract.grantRole(await contract.MINTER_ROLE(), relay)).wait();
}

/** An adopted contract into which the service mints. */
export async function mintingContract(moneta: ServiceFixture, owner: JsonRpcSigner, appId?: string) {
  const contract = await new MintableERC721__factory(owner).deploy(owner.address);
  const address = await contract.getAddress();
  await adopted(moneta, address, appId);
  await grantMinter(contract, await relayOf(moneta));
  await runCli(moneta.env, "collection", "minting", address);
  return { contract, address };
}

/** The request of a mint, after its end. */
export async function settledMint({ api }: Pick<ServiceFixture, "api">, fields: Shape<"Mint">) {
  const id = await api.accept("/v1/nfts", fields);
  await api.settled(id);
  return api.ok<Shape<"Request">>("GET", `/v1/requests/${id}`);
}
