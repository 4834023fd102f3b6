import type { Command } from "./command.ts";

/** Gas for one byte of a clone's code. */
const CODE_BYTE = 200;
/** Gas for storing one 32-byte word of a string. */
const WORD = 22_500;

/**
 * What a request is taken to use of its app's daily gas until its block shows what it used: its own cost in a small batch,
 * as the gas snapshot has it, rounded up. A receiver's code can add to it.
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
      // Two URIs of a CID and a little more, three words each, and the flags.
      return 100_000 + 8 * WORD;
    case "transfer":
      return command.foreign ? 120_000 : 75_000;
  }
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/**
 * Splits the gas of a transaction among the requests that it carried, by their estimates. The parts add up to the whole.
 */
export function shareGas(used: number, estimates: readonly number[]): number[] {
  const total = estimates.reduce((sum, estimate) => sum + estimate, 0);
  let [seen, given] = [0, 0];
  return estimates.map((estimate) => {
    seen += estimate;
    const upTo = Math.floor((used * seen) / total);
    const share = upTo - given;
    given = upTo;
    return share;
  });
}
