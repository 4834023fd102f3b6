import type { BroadcastAnswer } from "../domain/broadcast-answer.ts";
import type { StoredReason } from "../domain/waiting-for.ts";
import type { ProviderLimit } from "./limits.ts";
import { hex } from "./values.ts";

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

/** From the least final answer to the most final one: what one node refuses for good, another may accept. */
const MILDEST_FIRST: readonly BroadcastAnswer[] = [
  "accepted",
  "nonce-used",
  "busy",
  "underpriced",
  "no-funds",
  // The node may have taken the bytes, so a final refusal by another one does not count yet. A node known to fail is not asked.
  "no-answer",
  "unknown",
  "gas-too-low",
  "gas-too-high",
  "refused",
];

/** Which of two nodes' answers to the same broadcast counts. */
export function milderAnswer(a: Error, b: Error): Error {
  const rank = (error: Error) => MILDEST_FIRST.indexOf(classifyBroadcast(error));
  return rank(a) <= rank(b) ? a : b;
}

/**
 * Codes for a call that ran and reverted: 3 (execution API), -32015 (Nethermind). Other nodes give revert data. Any other
 * error, such as a rate limit, says nothing about the call.
 */
const REVERT_CODES = new Set([3, -32015]);

export function ranAndReverted(error: RpcError): null | undefined {
  return error.data !== null || REVERT_CODES.has(error.code) ? null : undefined;
}

/** Some nodes add empty revert data to errors that do not concern the call, so empty data alone is not a revert. */
export function revertOf(error: RpcError): { reverted: string } | null {
  const data = hex.safeParse(error.data);
  if (data.success && data.data !== "0x") return { reverted: data.data };
  return REVERT_CODES.has(error.code) ? { reverted: "0x" } : null;
}

/** Nodes use these codes both for a call that failed while it ran and for a call that they could not run. */
export const AMBIGUOUS: ReadonlySet<number> = new Set([-32000, -32603]);

/** The node does not answer, or its answer is not valid. Nothing is known about the chain: retry later. */
export class ChainUnavailable extends Error {
  override readonly name: string = "ChainUnavailable";
  /** Milliseconds after which the node may be asked again. Null: it did not say. */
  readonly retryAfter: number | null;
  /** With several nodes: the number and host of the one that failed. */
  node: string | null = null;

  constructor(message: string, options: ErrorOptions & { retryAfter?: number | null } = {}) {
    super(message, options);
    this.retryAfter = options.retryAfter ?? null;
  }
}

/** The URL of the node leads to another address. It is not followed. */
export class NodeRedirects extends ChainUnavailable {
  override readonly name = "NodeRedirects";

  /** @param target null: the answer names none. */
  constructor(target: string | null) {
    const to = target === null ? "" : ` to ${target}`;
    super(`the node redirects${to}, and redirects are not followed: set RPC_URL to the final address`);
  }
}

/** The node works, but its provider accepts no more calls for now. */
export class RateLimited extends ChainUnavailable {
  override readonly name = "RateLimited";
  /** `waiting`: the provider did not refuse this call, but calls of others come first. Then other calls may still be made. */
  readonly kind: "refused" | "waiting";

  /** @param retryAfter milliseconds. */
  constructor(retryAfter: number, kind: "refused" | "waiting" = "refused") {
    super(
      "the node works, but its provider limits the rate of calls: they continue when it allows. " +
        "If this happens often, use a plan with a higher limit",
      { retryAfter },
    );
    this.kind = kind;
  }
}

/** The caller gave the call up. This says nothing about the node. */
export class CallAborted extends ChainUnavailable {
  override readonly name = "CallAborted";

  constructor(cause: unknown) {
    super("the call was ended before the node answered", { cause });
  }
}

/** The node has not reached a block: its newest state is older than what is stored, or it cannot have the logs of the block. */
export class NodeBehind extends ChainUnavailable {
  override readonly name = "NodeBehind";

  constructor(head: number, block: number) {
    super(`the node is at block ${head.toString()}, and has not reached block ${block.toString()}`);
  }
}

/** What the node says about a block contradicts the other nodes, or the receipts of the block. */
export class NodeDisagrees extends ChainUnavailable {
  override readonly name = "NodeDisagrees";
}

/** The nodes have different blocks, and neither side has a majority. No node is at fault, so the work does not move on to another one. */
export class NodesDivided extends ChainUnavailable {
  override readonly name = "NodesDivided";

  constructor(block: number) {
    super(
      `the nodes do not agree about block ${block.toString()}, and there is no majority: nothing is settled until they do. ` +
        "Remove the node that is wrong from RPC_URLS",
    );
  }
}

/** The answer was longer than the limit, and was not read to its end. A smaller question may have a shorter answer. */
export class AnswerTooLarge extends ChainUnavailable {
  constructor(limit: number) {
    super(`the node's answer is larger than ${limit.toString()} bytes`);
  }
}

/** The node answered a call with an error. This proves nothing about the state of the network. */
export class RpcError extends Error {
  override readonly name: string = "RpcError";
  readonly code: number;
  /** Revert data, where the node gives it. */
  readonly data: string | null;

  constructor(code: number, message: string, data: string | null) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The provider refuses a log query because of its size. A smaller one may pass. */
export class QueryTooLarge extends RpcError {
  override readonly name = "QueryTooLarge";
  /** What to make smaller. */
  readonly limit: Exclude<ProviderLimit, "rate" | "bundle">;

  constructor(error: RpcError, limit: Exclude<ProviderLimit, "rate" | "bundle">) {
    super(error.code, error.message, null);
    this.limit = limit;
  }
}

/** What an error of the node is called for apps. */
export function reasonOfChain(error: unknown): StoredReason {
  if (error instanceof NodeDisagrees || error instanceof NodesDivided) return "nodes_disagree";
  return error instanceof ChainUnavailable || error instanceof RpcError ? "node_unavailable" : "unknown";
}

/** Text of an error for the operator's pages. A node's own message may contain a URL or a key, so only the log has it. */
export function describeError(error: unknown): string {
  if (error instanceof QueryTooLarge) {
    return (
      `the node's provider refuses log queries of every size (error code ${error.code.toString()}): ` +
      "use a provider that allows `eth_getLogs`"
    );
  }
  if (error instanceof RpcError) return `the node answered a call with error code ${error.code.toString()}`;
  return error instanceof Error ? error.message : String(error);
}
