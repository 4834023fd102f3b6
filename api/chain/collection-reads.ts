import { abi } from "./abi.ts";
import { addressOf, boolOf } from "./call-results.ts";
import type { ChainClient } from "./client.ts";

/** Owners of collections at the end of a block. Null: the node no longer has the state of that block. */
export async function readCollectionOwners(
  client: ChainClient,
  collections: readonly string[],
  block: number,
): Promise<(string | null)[]> {
  const data = abi.erc721.encodeFunctionData("owner");
  const owners = await client.tryCalls(
    collections.map((to) => ({ to, data })),
    block,
  );
  return collections.map((_, index) => addressOf(owners[index]));
}

/** Collections whose owner took the relay's right to mint away, as of a block. A missing answer does not count. */
export async function collectionsWithoutMinter(
  client: ChainClient,
  collections: string[],
  relay: string,
  block: number,
): Promise<Set<string>> {
  const data = abi.erc721.encodeFunctionData("isMinter", [relay]);
  const answers = await client.tryCalls(
    collections.map((to) => ({ to, data })),
    block,
  );
  return new Set(collections.filter((_, index) => boolOf(answers[index]) === false));
}
