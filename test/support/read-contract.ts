import type { Shape } from "../../client/client.ts";
import type { ApiClient } from "./api-client.ts";
import { eventually } from "./eventually.ts";

export type ContractPage = Shape<"ContractNftsPage">;

/**
 * Names a contract for a wallet, as an app does, and waits until the service has read the wallet's tokens from the chain.
 * @param block the list must be complete as of this block.
 */
export function readContract(api: ApiClient, wallet: string, contract: string, block = 0): Promise<ContractPage> {
  return eventually(async () => {
    const page = await api.ok<ContractPage>("GET", `/v1/accounts/${wallet}/${contract}`);
    return page.as_of_block === null || page.as_of_block < block ? undefined : page;
  });
}
