import { getAddress } from "ethers";

import type { ChainClient } from "./client.ts";

/** Code of an account that delegates to a contract (EIP-7702): this prefix, then the contract's address. */
const PREFIX = "0xef0100";
const LENGTH = PREFIX.length + 40;

/** The contract whose code an account runs; null when the account does not delegate. */
export function delegateOf(code: string): string | null {
  const lower = code.toLowerCase();
  return lower.startsWith(PREFIX) && lower.length === LENGTH ? getAddress(`0x${lower.slice(PREFIX.length)}`) : null;
}

/** Wallets that do not run the delegate's code yet. */
export async function walletsToDelegate(client: ChainClient, wallets: string[], delegate: string): Promise<string[]> {
  const codes = await client.code(wallets);
  return wallets.filter((_, index) => delegateOf(codes[index] ?? "0x") !== delegate);
}

/** Accounts with code that is not the service's: a receiver hook may run there. */
export async function accountsWithForeignCode(
  client: ChainClient,
  accounts: string[],
  delegate: string,
): Promise<Set<string>> {
  const codes = await client.code(accounts);
  return new Set(
    accounts.filter((_, index) => {
      const code = codes[index] ?? "0x";
      return code !== "0x" && delegateOf(code) !== delegate;
    }),
  );
}
