import { JsonRpcProvider, Network, parseEther, Wallet } from "ethers";
import { PlainERC1155__factory } from "../../../contracts/generated/factories/mocks/PlainERC1155__factory.ts";
import { PlainERC721__factory } from "../../../contracts/generated/factories/mocks/PlainERC721__factory.ts";
const LOCAL_CHAIN_ID = 31_337;
/** Runs `use` with such an account, which has deployed plain OpenZeppelin contracts. */
export async function withOutsideAccount(rpcUrl, use) {
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
    }
    finally {
        provider.destroy();
    }
}
