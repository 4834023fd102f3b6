import { BASE_URI, type Bench, CONTRACT_URI, NAME, SYMBOL, TEMPLATE } from "./bench.ts";

/** Constructor arguments of the reference contracts: the same collection as the one measured. */

export function erc721Yardstick(bench: Bench): unknown[] {
  return [NAME, SYMBOL, BASE_URI, CONTRACT_URI, 10_000n, bench.royaltyRecipient.address, 500n];
}

export function erc1155Yardstick(bench: Bench): unknown[] {
  return [NAME, SYMBOL, TEMPLATE, CONTRACT_URI, bench.royaltyRecipient.address, 500n];
}

/** Of ERC721A and Solady. */
export const PLAIN_YARDSTICK: unknown[] = [NAME, SYMBOL, BASE_URI];
