import { Signature, type BaseWallet } from "ethers";

import {
  burnAuthorizationDigest,
  transferAuthorizationDigest,
  type BurnAuthorization,
  type TransferAuthorization,
} from "../../../api/chain/codec/encode.ts";
import { ethers } from "./deploy.ts";

/** The chain id of the test chain. */
export const CHAIN_ID = 31337n;

/** The two halves of a signature as the contracts take them (ERC-2098). */
export interface CompactSignature {
  readonly r: string;
  readonly vs: string;
}

/** Returns a wallet like those of the service, without gas and code. */
export function newWallet(): BaseWallet {
  return ethers.Wallet.createRandom();
}

export function signDigest(wallet: BaseWallet, digest: string): CompactSignature {
  const signature = Signature.from(wallet.signingKey.sign(digest));
  return { r: signature.r, vs: signature.yParityAndS };
}

export function signTransfer(
  wallet: BaseWallet,
  collection: string,
  authorization: TransferAuthorization,
  chainId = CHAIN_ID,
): CompactSignature {
  return signDigest(wallet, transferAuthorizationDigest(chainId, collection, authorization));
}

export function signBurn(
  wallet: BaseWallet,
  collection: string,
  authorization: BurnAuthorization,
  chainId = CHAIN_ID,
): CompactSignature {
  return signDigest(wallet, burnAuthorizationDigest(chainId, collection, authorization));
}
