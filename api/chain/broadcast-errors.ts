import type { BroadcastAnswer } from "../domain/broadcast-answer.ts";
import { RpcError } from "./errors.ts";

/*
 * The execution API defines no codes for the errors of `eth_sendRawTransaction`, so this file, and no other, lists the messages of
 * each node: Geth, Reth, Nethermind, Erigon, Anvil and Hardhat.
 */

/* Tried in this order, because some messages contain words of a later row. */
const WORDS: [BroadcastAnswer, RegExp][] = [
  ["accepted", /already known|^known transaction|already imported|alreadyknown/i],
  // Full pools; limits of an account, also of one with code (EIP-7702); gaps in its nonces; a node that is not in sync.
  [
    "busy",
    /pool is full|account limit exceeded|in-flight transaction limit|gapped-nonce|nonce too high|noncegap|noncetoofarinfuture|discarded|future transaction tries to replace|syncing|already reserved|delegatorhaspendingtx/i,
  ],
  ["nonce-used", /nonce too low|oldnonce|nonce has already been used/i],
  [
    "underpriced",
    /underpriced|less than block base fee|fee ?cap less than|fee ?too ?low|max fee per gas less|replacementnotallowed|gas price (too low|below)|minimum (required )?(priority fee|tip)/i,
  ],
  ["no-funds", /insufficient ?funds|doesn't have enough funds|does not have enough funds|insufficient balance/i],
  [
    "gas-too-low",
    /intrinsic ?gas ?too ?low|floor data gas|gas floor .*exceeds|call gas cost .*exceeds|requires at least \d+ gas/i,
  ],
  [
    "gas-too-high",
    /exceeds (the )?block('s)? gas limit|gaslimitexceeded|gas ?limit ?too ?high|intrinsic gas too high|txgaslimitcapexceeded|(exceeds transaction|transaction) gas (limit )?cap|gas limit .*greater than the cap/i,
  ],
  // Sizes, fees above a cap of the node, kinds of transactions that the chain does not have, authorizations, senders.
  [
    "refused",
    /oversized data|maxtxsizeexceeded|rlp ?too ?long|data too large|request (entity )?too large|initcode (size exceeded|too large)|exceeds the configured cap|type not supported|notsupportedtxtype|type is not activated|eip-\d+ .*(disabled|not enabled|not valid)|invalid ?sender|invalid (transaction )?signature|invalidtxsignature|invalid chain ?id|invalidtxchainid|chain id does not match|auth(orization)? list|authorization tuple|higher than max fee per gas|transaction cannot be used to create|senderiscontract/i,
  ],
];

/** @param error what the call for a broadcast threw: an error of the node, or that it did not answer. */
export function classifyBroadcast(error: unknown): BroadcastAnswer {
  if (!(error instanceof RpcError)) return "no-answer";
  return WORDS.find(([, words]) => words.test(error.message))?.[0] ?? "unknown";
}
