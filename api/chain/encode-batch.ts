import { Transaction } from "ethers";

import { abi } from "./abi.ts";
import { addressWord, bytesWords, uintWord } from "./abi-words.ts";

/** The data of one contract call, and the contract that it calls. */
export interface EncodedCall {
  target: string;
  data: string;
}

/** One call of a batch, with its request number and the gas it may use. */
export interface BatchCall extends EncodedCall {
  number: bigint;
  gasLimit: number;
}

const EXECUTE = abi.relay.getFunction("execute").selector;
const WORD = 64;
/** Where `data` begins in a call: after number, target, gas limit and this offset itself. */
const DATA_OFFSET = uintWord(4n * 32n);

/** The data of one `Relay.execute` that runs the calls in order. */
export function encodeBatch(calls: readonly BatchCall[]): string {
  const tuples = calls.map(
    ({ number, target, gasLimit, data }) =>
      uintWord(number) + addressWord(target) + uintWord(BigInt(gasLimit), 32) + DATA_OFFSET + bytesWords(data),
  );
  let offset = calls.length * WORD;
  const offsets = tuples.map((tuple) => {
    const own = uintWord(BigInt(offset / 2));
    offset += tuple.length;
    return own;
  });
  return [EXECUTE, uintWord(32n), uintWord(BigInt(calls.length)), ...offsets, ...tuples].join("");
}

/** The gas limit of each call of a signed batch, by request number. */
export function gasLimitsOf(raw: string): Map<bigint, number> {
  const [calls] = abi.relay.decodeFunctionData("execute", Transaction.from(raw).data) as unknown as [
    { number: bigint; gasLimit: bigint }[],
  ];
  return new Map(calls.map(({ number, gasLimit }) => [number, Number(gasLimit)]));
}
