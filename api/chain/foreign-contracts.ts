import { zeroPadValue } from "ethers";

import type { CollectionType } from "../domain/command.ts";
import { abi } from "./abi.ts";
import { boolOf, type CallAnswer, stringOf, wordOf } from "./call-results.ts";
import type { ChainClient } from "./client.ts";
import { delegateOf } from "./delegation.ts";
import { ChainUnavailable, RpcError } from "./errors.ts";
import { decodeMoves, MOVE_TOPICS } from "./logs.ts";
import { cleanText } from "./text.ts";

/** Reads token contracts that are not the service's own, at the newest block. */
export interface ForeignContracts {
  /** Null: there is no contract, or it does not report ERC-721 or ERC-1155 support (ERC-165). */
  inspect(address: string): Promise<{ type: CollectionType; name: string | null } | null>;
  /** Copies that the owner holds. Null: an ERC-721 token that does not exist. */
  holding(contract: string, type: CollectionType, tokenId: string, owner: string): Promise<bigint | null>;
  /** Ids that the owner has ever received. Empty if the node refuses to search all blocks. */
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
      if (held === undefined) throw new ChainUnavailable("the node could not run a call of a token contract");
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
 * Copies held, in the order asked. Null: an ERC-721 token that does not exist. Undefined: the node could not tell.
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
  // A wallet with a delegate (EIP-7702) has code and answers ERC-165, but is not a token contract.
  if (code === undefined || code === "0x" || delegateOf(code) !== null) return null;
  const [erc165, nothing, erc721, erc1155, name] = await client.tryCalls([
    supports(ERC165),
    supports(NOTHING),
    supports(ERC721),
    supports(ERC1155),
    { to: address, data: abi.erc721.encodeFunctionData("name") },
  ]);
  if ([erc165, nothing, erc721, erc1155].includes(undefined)) {
    throw new ChainUnavailable("the node could not run a call of a token contract");
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
    // Many providers refuse to search the whole chain. The indexer still follows what the wallet receives from now on.
    if (error instanceof RpcError) return [];
    throw error;
  }
}

/** `name` is optional, and some contracts answer it in another shape: then there is none. */
function nameOf(answer: CallAnswer): string | null {
  const text = stringOf(answer);
  return text === null ? null : cleanText(Array.from(text).slice(0, 256).join(""));
}
