import { setTimeout as wait } from "node:timers/promises";

import { isError, type Provider, type Signer, type TransactionRequest } from "ethers";

import { OperatorError } from "../operator-error.ts";
import type { DeployProvider, Say } from "./announce.ts";

/** How long to wait for a transaction to be mined, in milliseconds. */
export const MINED_WITHIN = 600_000;
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

/** Waits until the account's transaction with this nonce is mined. @throws OperatorError after ten minutes */
export async function nonceMined(provider: Provider, account: string, nonce: number): Promise<void> {
  const deadline = Date.now() + MINED_WITHIN;
  while ((await provider.getTransactionCount(account)) <= nonce) {
    if (Date.now() > deadline)
      throw new OperatorError(
        `The transaction with nonce ${nonce.toString()} of ${account} is still pending after 10 minutes. Run this again later.`,
      );
    await wait(POLL);
  }
}

/** A transaction that is needed once. */
interface Needed {
  /** For the output. */
  name: string;
  /** Whether the chain has its effect already. */
  isDone: () => Promise<boolean>;
  transaction: () => Promise<TransactionRequest>;
}

/**
 * Sends a transaction unless its effect is there already, and waits until it is mined. An earlier run may have sent the same one
 * and been killed: what that account has sent is mined first, and the nonce is read before the effect. So of two that are
 * sent nevertheless, the chain takes one.
 * @returns whether it was sent.
 */
export async function sendOnce(sender: Signer, { name, isDone, transaction }: Needed, say: Say): Promise<boolean> {
  const provider = providerOf(sender);
  const from = await sender.getAddress();
  const pending = await provider.getTransactionCount(from, "pending");
  if (pending > 0) await nonceMined(provider, from, pending - 1);
  const nonce = await provider.getTransactionCount(from);
  if (await isDone()) return false;
  const sent = await sender.sendTransaction({ ...(await transaction()), nonce });
  say(`  ${name} sent: ${sent.hash}`);
  await sent.wait(1, MINED_WITHIN);
  return true;
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
