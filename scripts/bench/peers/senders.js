import { NonceManager, Wallet } from "ethers";
import { ERC721Collection__factory } from "../../../contracts/generated/factories/ERC721Collection__factory.ts";
/** Milliseconds between two polls for a receipt. */
const POLL = 50;
const MINT_GAS = 200000n;
const FEES = { maxFeePerGas: 20000000000n, maxPriorityFeePerGas: 1000000000n };
export function throughEthers(chain) {
    const collection = ERC721Collection__factory.connect(chain.collection, new NonceManager(chain.operator));
    return async () => {
        const sent = await collection.mint(chain.to, { gasLimit: MINT_GAS, ...FEES });
        await sent.wait();
    };
}
/** With viem's own nonce manager. */
export async function throughViem(packages, chain, url) {
    const viem = await packages.load("viem");
    const { privateKeyToAccount } = await packages.load("viem/accounts");
    const { foundry } = await packages.load("viem/chains");
    const { privateKey } = new Wallet(chain.operator.privateKey);
    const account = privateKeyToAccount(privateKey, { nonceManager: viem.nonceManager });
    const options = { chain: foundry, transport: viem.http(url), pollingInterval: POLL };
    const wallet = viem.createWalletClient({ ...options, account });
    const reader = viem.createPublicClient(options);
    const call = {
        address: chain.collection,
        abi: ERC721Collection__factory.abi,
        functionName: "mint",
        args: [chain.to],
        gas: MINT_GAS,
        ...FEES,
    };
    return async () => {
        const hash = await wallet.writeContract(call);
        const { status } = await reader.waitForTransactionReceipt({ hash, pollingInterval: POLL });
        if (status !== "success")
            throw new Error(`${hash} failed`);
    };
}
