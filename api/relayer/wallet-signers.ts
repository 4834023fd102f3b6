import type { Authorization } from "ethers";

import type { ChainClient } from "../chain/client.ts";
import { walletsToDelegate } from "../chain/delegation.ts";
import type { Keyring } from "../keys/keyring.ts";
import { walletPaths } from "../store/apps/wallets.ts";
import type { Db } from "../store/db/engine.ts";
import { signAuthorization } from "./sign.ts";

export type WalletSigners = Map<string, ReturnType<Keyring["wallet"]>>;

/** Keys of the service's wallets among the addresses. @throws when the seed makes another wallet. */
export async function walletSigners(read: Db, keyring: Keyring, addresses: string[]): Promise<WalletSigners> {
  const signers: WalletSigners = new Map();
  for (const [address, path] of await walletPaths(read, addresses)) {
    const signer = keyring.wallet(path);
    // A different seed must never sign in this wallet's place.
    if (signer.address !== address) {
      throw new Error(
        `the seed does not make wallet ${address}: set SEED_FILE to the seed that made this database's wallets`,
      );
    }
    signers.set(address, signer);
  }
  return signers;
}

/** Signed authorizations (EIP-7702), by address, for the wallets that do not run the delegate's code yet. */
export async function signDelegations(
  client: ChainClient,
  wallets: WalletSigners,
  addresses: string[],
  delegation: { chainId: bigint; delegate: string },
): Promise<Map<string, Authorization>> {
  const signed = new Map<string, Authorization>();
  if (addresses.length === 0) return signed;
  const undelegated = await walletsToDelegate(client, addresses, delegation.delegate);
  const nonces = await client.nonces(undelegated);
  for (const [index, address] of undelegated.entries()) {
    const wallet = wallets.get(address);
    const nonce = nonces[index];
    if (wallet === undefined || nonce === undefined) continue;
    const fields = { chainId: delegation.chainId, address: delegation.delegate, nonce };
    signed.set(address, signAuthorization(wallet.key, fields));
  }
  return signed;
}
