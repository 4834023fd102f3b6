import { RpcError } from "./errors.ts";

/**
 * What a node's answer to `eth_sendRawTransaction` says. The execution API has no codes for these, so each node's own
 * words are listed here, and nowhere else. Whatever is not listed is `indeterminate`: the transaction may be on its way.
 * No answer proves that it is not; the answer only decides how soon to look again, and what to tell people.
 */
export type BroadcastAnswer =
  /** The node has these very bytes. */
  | "known"
  /** Its nonce is used: by these bytes, by another version of them, or by somebody else. Blocks tell. */
  | "nonce-used"
  /** Its fee is below what the node takes now. */
  | "underpriced"
  /** The lane cannot pay for it. */
  | "no-funds"
  /** The node will not take it whatever the time. */
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
