import { NonceManager, Wallet } from "ethers";

import { ERC721Collection__factory } from "../../../contracts/generated/factories/ERC721Collection__factory.ts";
import type { BareChain } from "../pipeline/bare/chain.ts";
import type { Packages } from "./packages.ts";

/** Sends one transaction with one mint. Resolves when it is in a block. */
export type MintOnce = () => Promise<void>;

/** Milliseconds between two polls for a receipt. */
const POLL = 50;
const MINT_GAS = 200_000n;
const FEES = { maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

export function throughEthers(chain: BareChain): MintOnce {
  const collection = ERC721Collection__factory.connect(chain.collection, new NonceManager(chain.operator));
  return async () => {
    const sent = await collection.mint(chain.to, { gasLimit: MINT_GAS, ...FEES });
    await sent.wait();
  };
}

interface Viem {
  http(url: string): unknown;
  createWalletClient(options: object): { writeContract(call: object): Promise<string> };
  createPublicClient(options: object): {
    waitForTransactionReceipt(options: object): Promise<{ status: string }>;
  };
  nonceManager: unknown;
}
interface ViemAccounts {
  privateKeyToAccount: (key: string, options: object) => object;
}
interface ViemChains {
  foundry: object;
}

/** With viem's own nonce manager. */
export async function throughViem(packages: Packages, chain: BareChain, url: string): Promise<MintOnce> {
  const viem = await packages.load<Viem>("viem");
  const { privateKeyToAccount } = await packages.load<ViemAccounts>("viem/accounts");
  const { foundry } = await packages.load<ViemChains>("viem/chains");
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
    if (status !== "success") throw new Error(`${hash} failed`);
  };
}
