import { type HDNodeWallet, JsonRpcProvider, Network, parseEther, Wallet } from "ethers";

import { PlainERC1155__factory } from "../../../contracts/generated/factories/mocks/PlainERC1155__factory.ts";
import { PlainERC721__factory } from "../../../contracts/generated/factories/mocks/PlainERC721__factory.ts";
import type { PlainERC1155 } from "../../../contracts/generated/mocks/PlainERC1155.ts";
import type { PlainERC721 } from "../../../contracts/generated/mocks/PlainERC721.ts";

const LOCAL_CHAIN_ID = 31_337;

/** A stranger to the service, with their own key and their own contracts. */
interface OutsideAccount {
  wallet: HDNodeWallet;
  erc721: PlainERC721;
  erc1155: PlainERC1155;
}

/** Runs `use` with such an account, which has deployed plain OpenZeppelin contracts. */
export async function withOutsideAccount<T>(rpcUrl: string, use: (account: OutsideAccount) => Promise<T>): Promise<T> {
  const network = Network.from(LOCAL_CHAIN_ID);
  const provider = new JsonRpcProvider(rpcUrl, network, {
    staticNetwork: network,
    cacheTimeout: -1,
    batchMaxCount: 1,
    polling: true,
    pollingInterval: 50,
  });
  try {
    const wallet = Wallet.createRandom(provider);
    // A local node has open accounts with funds.
    const funder = await provider.getSigner(1);
    await (await funder.sendTransaction({ to: wallet.address, value: parseEther("1") })).wait();
    const erc721 = await (await new PlainERC721__factory(wallet).deploy()).waitForDeployment();
    const erc1155 = await (await new PlainERC1155__factory(wallet).deploy()).waitForDeployment();
    return await use({ wallet, erc721, erc1155 });
  } finally {
    provider.destroy();
  }
}
