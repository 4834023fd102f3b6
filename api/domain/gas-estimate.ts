import type { Command } from "./command.ts";

/** Gas per byte of a clone's code. */
const CODE_BYTE = 200;
/** Gas for storing one 32-byte word of a string in a new slot. */
const WORD = 22_500;

/**
 * The gas that a request reserves from its app's daily budget until its block shows what it used. The figures are the costs
 * in a small batch in the gas snapshot, rounded up. A receiver's code can add to them.
 *
 * They are constants on purpose, although the relayer measures what calls cost on the chain. No gas limit and no share of a
 * transaction's cost comes from them: those come from the measurement (`api/relayer/gas.ts`). Here they only decide how much
 * a waiting request takes from a budget, and an API process needs no chain for that. Where gas costs more, a budget lets
 * through some requests more until their blocks are read; then their real gas counts.
 */
export function estimateGas(command: Command): number {
  switch (command.kind) {
    case "create-collection": {
      const texts = [command.name, command.symbol, command.baseUri ?? "", command.collectionUri ?? ""];
      return 130_000 + CODE_BYTE * bytesOf(texts.join(""));
    }
    case "mint-erc721":
      return 75_000;
    case "create-erc1155":
      return 90_000 + (command.uri === null ? 0 : WORD * (1 + Math.ceil(bytesOf(command.uri) / 32)));
    case "mint-erc1155":
      return 60_000;
    case "announce-metadata":
      return 45_000;
    case "freeze-metadata":
      // Two URIs, each a CID and a short path (three words), and the flags.
      return 100_000 + 8 * WORD;
    case "transfer":
      return command.foreign ? 120_000 : 75_000;
  }
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text, "utf8");
}
