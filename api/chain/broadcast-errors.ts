import { RpcError } from "./errors.ts";

/**
 * Meaning of a node's error for `eth_sendRawTransaction`. The execution API defines no codes for these errors, so this file,
 * and no other, lists the messages of each node. A message that is not listed is `indeterminate`: the transaction may have
 * reached the network. No error proves that it did not. The answer only decides when to retry and what to report.
 */
export type BroadcastAnswer =
  /** The node already has these signed bytes. */
  | "known"
  /** The nonce is used: by these bytes, by another version, or by another sender. Only blocks show which. */
  | "nonce-used"
  /** The fee is below what the node accepts now. */
  | "underpriced"
  /** The lane has too little funds. */
  | "no-funds"
  /** The node will never accept it. */
  | "refused"
  | "indeterminate";

const WORDS: [BroadcastAnswer, RegExp][] = [
  // Geth, Reth, Erigon · Hardhat · Anvil · Nethermind
  ["known", /already known|^known transaction|already imported|alreadyknown/i],
  ["nonce-used", /nonce too low|oldnonce|nonce has already been used/i],
  ["underpriced", /underpriced|less than block base fee|fee ?cap less than|feetoolow|max fee per gas less/i],
  ["no-funds", /insufficient funds|doesn't have enough funds|insufficientfunds|insufficient balance/i],
  [
    "refused",
    /exceeds block gas limit|intrinsic gas too low|invalid sender|exceeds transaction gas cap|gas limit too high|oversized data|transaction type not supported/i,
  ],
];

export function classifyBroadcast(error: unknown): BroadcastAnswer {
  if (!(error instanceof RpcError)) return "indeterminate";
  return WORDS.find(([, words]) => words.test(error.message))?.[0] ?? "indeterminate";
}
