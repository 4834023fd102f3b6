import { toQuantity, Wallet } from "ethers";

import type { ChainClient } from "./client.ts";

/** A delegation costs at least this much gas in addition (EIP-7702). */
const DELEGATION_GAS = 12_500n;
/** Gas limit of the estimates. */
const MOST_GAS = 1_000_000;
/** Milliseconds after which the node is asked again: a hard fork may have brought the delegation. */
const ASK_AGAIN = 600_000;

/** Whether the chain lets wallets delegate. "unknown": the node gave no usable answer. */
type DelegationSupport = "yes" | "no" | "unknown";

/** Two calls that differ only in an authorization, which a wallet without funds signed. */
export function delegatingCalls(chainId: bigint, from: string) {
  const wallet = Wallet.createRandom();
  const { address, nonce, signature } = wallet.authorizeSync({ address: from, chainId, nonce: 0 });
  const authorization = {
    chainId: toQuantity(chainId),
    address,
    nonce: toQuantity(nonce),
    yParity: toQuantity(signature.yParity),
    r: signature.r,
    s: signature.s,
  };
  const plain = { from, to: wallet.address, data: "0x" };
  return { plain, delegating: { ...plain, authorizationList: [authorization] } };
}

/** The node charges for a valid authorization if it knows EIP-7702, refuses it if it does not, or ignores the field. */
export function delegationSupport(plain: bigint | null, delegating: bigint | null): DelegationSupport {
  if (plain === null) return "unknown";
  if (delegating === null) return "no";
  return delegating - plain >= DELEGATION_GAS ? "yes" : "unknown";
}

/** Asks the node at the first need, and again after ten minutes until the answer is yes. */
export class DelegationProbe {
  readonly #client: ChainClient;
  #asked: { support: Promise<DelegationSupport>; at: number } | null = null;

  constructor(client: ChainClient) {
    this.#client = client;
  }

  /** @returns false only if the node refuses a delegation and accepts the same call without it. @throws ChainUnavailable */
  async canDelegate(): Promise<boolean> {
    if (this.#asked === null || performance.now() - this.#asked.at > ASK_AGAIN) {
      this.#asked = { support: this.#ask(), at: performance.now() };
    }
    const asked = this.#asked;
    try {
      const support = await asked.support;
      if (support === "yes") asked.at = Infinity;
      return support !== "no";
    } catch (error) {
      if (this.#asked === asked) this.#asked = null;
      throw error;
    }
  }

  async #ask(): Promise<DelegationSupport> {
    const calls = delegatingCalls(await this.#client.chainId(), Wallet.createRandom().address);
    const [plain = null, delegating = null] = await this.#client.estimateNext(
      [calls.plain, calls.delegating],
      MOST_GAS,
    );
    return delegationSupport(plain, delegating);
  }
}
