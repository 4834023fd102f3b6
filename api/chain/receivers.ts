import { id } from "ethers";

import type { CollectionType } from "../domain/command.ts";
import { forEachAtOnce, inPages } from "../shared/at-once.ts";
import { REPORTED_REASON } from "./call-results.ts";
import type { ChainClient, ContractCall } from "./client.ts";
import { revertText } from "./codec/decode.ts";
import { addressWord, uintWord, wordCall } from "./codec/encode.ts";
import { ChainUnavailable, RpcError } from "./errors.ts";
import { type BoundedAnswer, CALLS_AT_ONCE, READS_AT_ONCE, readPart } from "./foreign.ts";
import { delegateOf } from "./reads.ts";

/** A token that would arrive. */
export interface ArrivingToken {
  contract: string;
  type: CollectionType;
  tokenId: bigint;
}

/** What an address is on the chain, and whether the token may go there. */
export interface Receiver {
  is: "account" | "contract" | "delegated_account" | "unknown";
  /** The contract whose code an account runs (EIP-7702). */
  delegate: string | null;
  /** null: the node could not tell. */
  accepts: boolean | null;
  /** Why it does not accept. */
  reason: string | null;
}

export interface ReceiverReads {
  /** In the order of the addresses. It never throws because of the node or of a receiver. */
  read(token: ArrivingToken, addresses: readonly string[], abort: AbortSignal): Promise<Receiver[]>;
}

const UNKNOWN: Receiver = { is: "unknown", delegate: null, accepts: null, reason: null };

/** The function that a token contract calls on a receiver with code, and the words of its arguments. */
const HOOKS = {
  ERC721: hookOf("onERC721Received", "address,address,uint256,bytes"),
  ERC1155: hookOf("onERC1155Received", "address,address,uint256,uint256,bytes"),
} as const;

function hookOf(name: string, types: string) {
  const selector = id(`${name}(${types})`).slice(0, 10);
  // The receiver must answer its selector as one `bytes4`.
  return { name, selector, accepted: selector.padEnd(2 + 64, "0") };
}

/**
 * Asks the node whether receivers accept a token. Only code is asked: every other address accepts. The hook is called as a mint
 * of the relay would call it, so nothing but the receiver decides.
 * @param service `gas`: gas limit of one call.
 */
export function createReceiverReads(client: ChainClient, service: { relay: string; gas: number }): ReceiverReads {
  const read = async (token: ArrivingToken, addresses: readonly string[], abort: AbortSignal) => {
    const codes = await codesOf(client, addresses, abort);
    if (codes === null) return addresses.map(() => UNKNOWN);
    const receivers = codes.map(receiverOf);
    const withCode = [...addresses.entries()].filter(([index]) => receivers[index]?.accepts === null);
    const calls = withCode.map(([, address]) => hookCall(token, { operator: service.relay, from: null, to: address }));
    const answers = await callReceivers(client, calls, { gas: service.gas, abort });
    for (const [position, [index]] of withCode.entries()) {
      const outcome = outcomeOf(answers[position] ?? "unknown", token, service.gas);
      receivers[index] = { ...(receivers[index] ?? UNKNOWN), ...outcome };
    }
    return receivers;
  };
  return { read };
}

/** Null: the node does not say. */
async function codesOf(
  client: ChainClient,
  addresses: readonly string[],
  abort: AbortSignal,
): Promise<string[] | null> {
  if (addresses.length === 0) return [];
  try {
    return await client.nodes.session(() => client.code([...addresses], abort));
  } catch (error) {
    if (error instanceof ChainUnavailable || error instanceof RpcError) return null;
    throw error;
  }
}

function receiverOf(code: string): Receiver {
  if (code === "0x") return { is: "account", delegate: null, accepts: true, reason: null };
  const delegate = delegateOf(code);
  return { is: delegate === null ? "contract" : "delegated_account", delegate, accepts: null, reason: null };
}

/**
 * The call of a token's contract on its receiver.
 * @param from who gives the token away; null: it is minted.
 */
export function hookCall(
  { contract, type, tokenId }: ArrivingToken,
  { operator, from, to }: { operator: string; from: string | null; to: string },
  quantity = 1n,
): ContractCall {
  const { selector } = HOOKS[type];
  const parties = [addressWord(operator), from === null ? uintWord(0n) : addressWord(from), uintWord(tokenId)];
  const rest = type === "ERC721" ? [] : [uintWord(quantity)];
  const words = [...parties, ...rest];
  // The data of the hook are empty: where they stand, and their length.
  const data = wordCall(selector, ...words, uintWord(BigInt(32 * (words.length + 1))), uintWord(0n));
  return { from: contract, to, data };
}

/** Whether this is the answer of a receiver that takes the token. */
export function acceptsBy(answer: string, type: CollectionType): boolean {
  return answer.toLowerCase().startsWith(HOOKS[type].accepted);
}

/**
 * Ten receivers in one HTTP request. If their answers together are too long, each is asked alone: a hostile receiver loses only
 * its own answer.
 */
export async function callReceivers(
  client: ChainClient,
  calls: readonly ContractCall[],
  bounds: { gas: number; block?: number | string; abort: AbortSignal },
): Promise<BoundedAnswer[]> {
  const answers = new Map<ContractCall, BoundedAnswer>();
  const ask = async (part: ContractCall[]) => {
    if (bounds.abort.aborted) return;
    const found = await readPart(client, part, bounds);
    for (const [position, call] of part.entries()) answers.set(call, found[position] ?? "unknown");
  };
  await forEachAtOnce(inPages(calls, CALLS_AT_ONCE), READS_AT_ONCE, async (part) => {
    await ask(part);
    if (part.length > 1 && part.every((call) => answers.get(call) === "failed"))
      for (const call of part) await ask([call]);
  });
  return calls.map((call) => answers.get(call) ?? "unknown");
}

function outcomeOf(answer: BoundedAnswer, { type }: ArrivingToken, gas: number): Pick<Receiver, "accepts" | "reason"> {
  const { name } = HOOKS[type];
  const refused = (reason: string) => ({ accepts: false, reason });
  if (answer === "unknown") return { accepts: null, reason: null };
  if (answer === "failed")
    return refused(`\`${name}\` uses more than ${gas.toString()} gas (MAX_ITEM_GAS), or answers too many bytes.`);
  if ("reverted" in answer) {
    if (answer.reverted === "0x") return refused(`There is no \`${name}\`, or it reverts without a reason.`);
    return refused(`\`${name}\` refuses the token: ${revertText(answer.reverted.slice(0, REPORTED_REASON))}`);
  }
  if (acceptsBy(answer.returned, type)) return { accepts: true, reason: null };
  if (answer.returned === "0x") return refused(`There is no \`${name}\`: the code answers nothing.`);
  return refused(`\`${name}\` does not answer what the standard demands.`);
}
