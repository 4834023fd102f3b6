import { setTimeout as wait } from "node:timers/promises";

import { isError, type Provider, type Signer, type TransactionReceipt } from "ethers";

import { replaceFile } from "../../shared/write-new-file.ts";
import { OperatorError } from "../operator-error.ts";

/** Prints one line. */
export type Say = (line: string) => void;

/** What ethers offers, and plain JSON-RPC calls, which throw if the node refuses them. */
export type DeployProvider = Provider & { send(method: string, params: unknown[]): Promise<unknown> };

/** How long to wait for a transaction to be mined, in milliseconds. */
const MINED_WITHIN = 600_000;
/** Time between two checks for a transaction of an earlier run, in milliseconds. */
const POLL = 500;

export function providerOf(signer: Signer): DeployProvider {
  const { provider } = signer;
  if (provider === null || !("send" in provider)) throw new Error("The deployer has no JSON-RPC provider.");
  return provider as DeployProvider;
}

/** Whether there is a contract. @param block the newest one by default. */
export async function hasCode(provider: Provider, address: string, block?: number): Promise<boolean> {
  return (await provider.getCode(address, block)) !== "0x";
}

/** A transaction of an operator, which is needed once. */
export interface OperatorTransaction {
  /** What it does, for people. */
  name: string;
  /** Null: it creates a contract. */
  to: string | null;
  data: string;
  /** Coins, in wei. */
  value?: bigint;
  /** Whether the chain has its effect already. */
  isDone: () => Promise<boolean>;
  /** Notes the nonce before it is sent. What it throws stops the sending. */
  record?: (nonce: number) => Promise<void>;
}

/**
 * Sends a transaction unless its effect is there already, and waits until it is mined. An earlier run may have sent the same one
 * and been killed: what that account has sent is mined first, and the nonce is read before the effect. So of two that are
 * sent nevertheless, the chain takes one.
 * @returns null when the effect was there. @throws OperatorError
 */
export async function sendOnce(
  sender: Signer,
  { name, to, data, value = 0n, isDone, record }: OperatorTransaction,
  say: Say,
): Promise<TransactionReceipt | null> {
  const provider = providerOf(sender);
  const from = await sender.getAddress();
  await allMined(provider, from);
  const nonce = await provider.getTransactionCount(from);
  if (await isDone()) return null;
  await record?.(nonce);
  const sent = await sender.sendTransaction({ to, data, value, nonce });
  say(`  ${name} sent: ${sent.hash}`);
  const receipt = await sent.wait(1, MINED_WITHIN);
  if (receipt === null) throw new Error(`${name} was sent, and has no receipt`);
  return receipt;
}

/** Waits until the account has no transaction that is not mined. @throws OperatorError after ten minutes */
async function allMined(provider: Provider, account: string): Promise<void> {
  const deadline = Date.now() + MINED_WITHIN;
  const pending = await provider.getTransactionCount(account, "pending");
  while ((await provider.getTransactionCount(account)) < pending) {
    if (Date.now() > deadline)
      throw new OperatorError(
        `The transaction with nonce ${(pending - 1).toString()} of ${account} is still pending after 10 minutes. Run this again later.`,
      );
    await wait(POLL);
  }
}

/** A transaction without coins that somebody else signs, such as a hardware wallet or a multisig. */
export interface Unsigned {
  name: string;
  to: string;
  data: string;
}

/** Writes the transactions as a batch file of Safe's Transaction Builder, version 1.0. Other programs read `to` and `data`. */
export async function writeUnsigned(file: string, chainId: bigint, unsigned: readonly Unsigned[]): Promise<void> {
  const batch = {
    version: "1.0",
    chainId: chainId.toString(),
    createdAt: Date.now(),
    meta: { name: "Moneta", description: unsigned.map(({ name }) => name).join(", ") },
    transactions: unsigned.map(({ to, data }) => ({ to, value: "0", data })),
  };
  await replaceFile(file, `${JSON.stringify(batch, null, 2)}\n`, 0o644);
}

/** Errors of ethers that come from the chain or the node, not from a mistake in this program. */
const OF_THE_CHAIN = [
  "CALL_EXCEPTION",
  "INSUFFICIENT_FUNDS",
  "NONCE_EXPIRED",
  "REPLACEMENT_UNDERPRICED",
  "TIMEOUT",
  "TRANSACTION_REPLACED",
  "UNKNOWN_ERROR",
] as const;

/** Runs steps that send transactions. Their errors become a sentence that says what to do. */
export async function explainingChain<T>(steps: () => Promise<T>): Promise<T> {
  try {
    return await steps();
  } catch (error) {
    const code = OF_THE_CHAIN.find((each) => isError(error, each));
    if (code === undefined) throw error;
    throw new OperatorError(`${reasonOf(error)} Run this again: it continues, and sends nothing twice.`, {
      cause: error,
    });
  }
}

function reasonOf(error: unknown): string {
  if (isError(error, "INSUFFICIENT_FUNDS")) return "The account cannot pay for its next transaction. Send it coins.";
  if (isError(error, "TIMEOUT")) return "A transaction is still not mined after 10 minutes.";
  if (isError(error, "UNKNOWN_ERROR")) {
    const { error: answer } = error as unknown as { error?: { message?: unknown } };
    if (typeof answer?.message === "string") return `The node refused a call: ${answer.message}.`;
  }
  const { shortMessage } = error as { shortMessage?: unknown };
  return `A transaction failed: ${String(shortMessage)}.`;
}
