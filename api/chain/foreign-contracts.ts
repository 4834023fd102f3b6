import { zeroPadValue } from "ethers";

import type { CollectionType } from "../domain/command.ts";
import { abi } from "./abi.ts";
import { boolOf, type CallAnswer, stringOf, wordOf } from "./call-results.ts";
import type { ChainClient } from "./client.ts";
import { delegateOf } from "./delegation.ts";
import { ChainUnavailable, RpcError } from "./errors.ts";
import { decodeMoves, MOVE_TOPICS } from "./logs.ts";
import { cleanText } from "./text.ts";

/** What the service reads of token contracts that are not its own, from the chain as it is at that moment. */
export interface ForeignContracts {
  /** null: no contract there, or neither ERC-721 nor ERC-1155 by its own word (ERC-165). */
  inspect(address: string): Promise<{ type: CollectionType; name: string | null } | null>;
  /** Copies that the owner holds. null: an ERC-721 token that does not exist. */
  holding(contract: string, type: CollectionType, tokenId: string, owner: string): Promise<bigint | null>;
  /** Ids that the owner has ever received, as far as the node lets its logs be searched. */
  tokensOf(contract: string, type: CollectionType, owner: string): Promise<string[]>;
  headBlock(): Promise<number>;
}

const ERC165 = "0x01ffc9a7";
const ERC721 = "0x80ac58cd";
const ERC1155 = "0xd9b67a26";
const NOTHING = "0xffffffff";

export function createForeignContracts(client: ChainClient): ForeignContracts {
  return {
    inspect: (address) => inspect(client, address),
    holding: async (contract, type, tokenId, owner) => {
      const [held] = await readHoldings(client, [{ contract, type, tokenId, owner }]);
      if (held === undefined) throw new ChainUnavailable("the node could not run a call");
      return held;
    },
    tokensOf: (contract, type, owner) => tokensOf(client, contract, type, owner),
    headBlock: () => client.headNumber(),
  };
}

export interface HoldingQuery {
  contract: string;
  type: CollectionType;
  tokenId: string;
  owner: string;
}

/**
 * Copies held, in the order asked; null for an ERC-721 token that does not exist; undefined where the node could not tell.
 */
export async function readHoldings(
  client: ChainClient,
  queries: HoldingQuery[],
  blockNumber?: number,
): Promise<(bigint | null | undefined)[]> {
  const calls = queries.map(({ contract, type, tokenId, owner }) => ({
    to: contract,
    data:
      type === "ERC721"
        ? abi.erc721.encodeFunctionData("ownerOf", [tokenId])
        : abi.erc1155.encodeFunctionData("balanceOf", [owner, tokenId]),
  }));
  const answers = await client.tryCalls(calls, blockNumber);
  return queries.map((query, index) => {
    const answer = answers[index];
    if (answer === undefined) return undefined;
    const word = wordOf(answer);
    if (query.type === "ERC1155") return word ?? 0n;
    if (word === null || word === 0n) return null;
    return word === BigInt(query.owner) ? 1n : 0n;
  });
}

async function inspect(client: ChainClient, address: string): ReturnType<ForeignContracts["inspect"]> {
  const supports = (interfaceId: string) => ({
    to: address,
    data: abi.erc721.encodeFunctionData("supportsInterface", [interfaceId]),
  });
  const [code] = await client.code([address]);
  // A wallet that delegated (EIP-7702) answers the receiver hooks, but is no token contract.
  if (code === undefined || code === "0x" || delegateOf(code) !== null) return null;
  const [erc165, nothing, erc721, erc1155, name] = await client.tryCalls([
    supports(ERC165),
    supports(NOTHING),
    supports(ERC721),
    supports(ERC1155),
    { to: address, data: abi.erc721.encodeFunctionData("name") },
  ]);
  if ([erc165, nothing, erc721, erc1155].includes(undefined)) {
    throw new ChainUnavailable("the node could not run a call");
  }
  if (boolOf(erc165) !== true || boolOf(nothing) === true) return null;
  if (boolOf(erc721) === true) return { type: "ERC721", name: nameOf(name) };
  if (boolOf(erc1155) === true) return { type: "ERC1155", name: nameOf(name) };
  return null;
}

async function tokensOf(client: ChainClient, contract: string, type: CollectionType, owner: string): Promise<string[]> {
  const to = zeroPadValue(owner, 32).toLowerCase();
  const [erc721 = "", ...erc1155] = MOVE_TOPICS;
  const topics = type === "ERC721" ? [erc721, null, to] : [erc1155, null, null, to];
  try {
    const logs = await client.logs({ address: [contract], topics }, 0, await client.headNumber());
    return [...new Set(logs.flatMap(decodeMoves).map((move) => move.tokenId))];
  } catch (error) {
    // Many providers refuse a search of the whole chain. What the wallet receives from now on is followed all the same.
    if (error instanceof RpcError) return [];
    throw error;
  }
}

/** `name` is optional, and some contracts answer it in another shape: then there is none. */
function nameOf(answer: CallAnswer): string | null {
  const text = stringOf(answer);
  return text === null ? null : cleanText(Array.from(text).slice(0, 256).join(""));
}
