import { Interface } from "ethers";

import type { CollectionType } from "../domain/command.ts";
import { tokenFile } from "../domain/metadata-files.ts";
import { forEachAtOnce, inPages } from "../shared/at-once.ts";
import { stringOf } from "./call-results.ts";
import type { ChainClient, ContractCall } from "./client.ts";
import {
  type BoundedAnswer,
  boundedCalls,
  type CallBounds,
  CALLS_AT_ONCE,
  readPart,
  READS_AT_ONCE,
  textOf,
} from "./foreign.ts";

/** Of the EIPs 721, 1155 and 7572, and as contracts usually name the two by which an owner changes the URIs of all tokens. */
const functions = new Interface([
  "function tokenURI(uint256) view returns (string)",
  "function uri(uint256) view returns (string)",
  "function contractURI() view returns (string)",
  "function setBaseURI(string)",
  "function setURI(string)",
]);

/**
 * What a contract says about where metadata are. `none`: nothing, or it reverts. `failed`: its answer takes more gas or more
 * bytes than the limits allow. `unknown`: the node could not tell.
 */
export type SaidUri = { uri: string } | "none" | "failed" | "unknown";

interface Asked {
  address: string;
  type: CollectionType;
}

/** Gas that is enough for nearly every contract. What needs more is asked alone: it may take long, or all that a bundle may answer. */
const USUAL_GAS = 1_000_000;
/** Milliseconds for a call that is asked alone. */
const ALONE_TIME = 15_000;

/** The URIs of tokens, in their order, with the id in place of `{id}` (ERC1155). One token's answer affects no other one's. */
export async function readTokenUris(
  client: ChainClient,
  { address, type }: Asked,
  tokenIds: readonly string[],
  bounds: CallBounds,
): Promise<SaidUri[]> {
  const name = type === "ERC721" ? "tokenURI" : "uri";
  const calls = tokenIds.map((id) => ({ to: address, data: functions.encodeFunctionData(name, [id]) }));
  const answers = new Array<BoundedAnswer>(calls.length).fill("unknown");
  await forEachAtOnce(inPages(calls.entries(), CALLS_AT_ONCE), READS_AT_ONCE, async (part) => {
    const found = await readPart(
      client,
      part.map(([, call]) => call),
      { ...bounds, gas: Math.min(bounds.gas, USUAL_GAS) },
    );
    for (const [position, [index, call]] of part.entries()) {
      const answer = found[position] ?? "unknown";
      answers[index] =
        typeof answer === "object" && "returned" in answer ? answer : await readAlone(client, call, bounds);
    }
  });
  return answers.map((answer, index) => saidBy(answer, type === "ERC1155" ? (tokenIds[index] ?? null) : null));
}

export async function readContractUri(client: ChainClient, address: string, bounds: CallBounds): Promise<SaidUri> {
  const call = { to: address, data: functions.encodeFunctionData("contractURI") };
  return saidBy(await readAlone(client, call, bounds), null);
}

async function readAlone(client: ChainClient, call: ContractCall, bounds: CallBounds): Promise<BoundedAnswer> {
  const late = AbortSignal.timeout(ALONE_TIME);
  const abort = bounds.abort === undefined ? late : AbortSignal.any([bounds.abort, late]);
  const [answer = "unknown"] = await boundedCalls(client, [call], { ...bounds, abort });
  return answer;
}

/** @param tokenId replaces `{id}`; null: nothing does. */
function saidBy(answer: BoundedAnswer, tokenId: string | null): SaidUri {
  if (answer === "failed" || answer === "unknown") return answer;
  const uri = stringOf(textOf(answer))?.trim();
  if (uri === undefined || uri === "") return "none";
  return { uri: tokenId === null ? uri : uri.replaceAll("{id}", tokenFile("ERC1155", tokenId)) };
}

/** The call by which the owner of a contract of the usual shape sets the URIs of all its tokens. */
export function uriCall({ address, type }: Asked, base: string) {
  const name = type === "ERC721" ? "setBaseURI" : "setURI";
  return { to: address, function: `${name}(string)`, argument: base, data: functions.encodeFunctionData(name, [base]) };
}
