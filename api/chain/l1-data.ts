import { AbiCoder, concat, getBytes, id, Interface, keccak256, ZeroAddress } from "ethers";

import { type L1Data, NO_L1_DATA } from "../domain/gas-estimate.ts";
import type { CallAnswer } from "./call-results.ts";
import type { ChainClient, ContractCall } from "./client.ts";

/** Contracts that tell what a rollup charges for writing a transaction to Ethereum (L1). Each is a part of its kind of chain. */
const ORACLES = {
  /** Of the OP stack: GasPriceOracle. */
  op: "0x420000000000000000000000000000000000000F",
  /** Of Scroll: L1GasPriceOracle. */
  scroll: "0x5300000000000000000000000000000000000002",
  /** Of Arbitrum: NodeInterface, which only calls to a node reach. */
  arbitrum: "0x00000000000000000000000000000000000000C8",
} as const;

const calls = new Interface([
  "function getL1Fee(bytes) view returns (uint256)",
  "function gasEstimateL1Component(address to, bool contractCreation, bytes data) view returns (uint64, uint256, uint256)",
]);

/** Runs calls. Null or undefined: it fails. */
type ReadCalls = (calls: ContractCall[]) => Promise<CallAnswer[]>;

/** More than anybody pays, and more gas than a block has: the answer is wrong. */
const ABSURD = { feeWei: 10n ** 24n, gas: 10n ** 12n };

/**
 * What a chain of the OP stack, or Scroll, charges for the data of transactions, in wei.
 * @param transactions their bytes. @returns null when the chain charges no such fee, or does not tell it.
 */
export async function l1DataFees(read: ReadCalls, transactions: readonly string[]): Promise<bigint[] | null> {
  const oracles = [ORACLES.op, ORACLES.scroll];
  const answers = await read(
    oracles.flatMap((to) => transactions.map((bytes) => ({ to, data: calls.encodeFunctionData("getL1Fee", [bytes]) }))),
  );
  for (const at of oracles.keys()) {
    const fees = answers
      .slice(at * transactions.length, (at + 1) * transactions.length)
      .map((answer) => numberOf(answer, 1, ABSURD.feeWei));
    const known = fees.filter((fee) => fee !== null);
    if (known.length === transactions.length) return known;
  }
  return null;
}

/** The same of one transaction, in wei; 0 where the chain charges no such fee. @throws ChainUnavailable */
export async function l1DataFee(client: ChainClient, transaction: string): Promise<bigint> {
  const fees = await l1DataFees((asked) => client.tryCalls(asked), [transaction]);
  return fees?.[0] ?? 0n;
}

/** Bytes whose price is asked for. */
const PRICED_BYTES = 4_096;
/** Mints whose fee is asked for together. */
const PRICED_ITEMS = 20;
/** Bytes of a mint in a batch: those that compression makes smaller, and addresses, numbers and lengths. */
const ITEM_BYTES = { zero: 256, other: 128 } as const;

/**
 * Asks the chain what it charges for the data of transactions, as gas or as a fee. Random bytes stand for those of addresses and
 * signatures, since both kinds of chain charge less for what compression makes smaller.
 * @throws ChainUnavailable
 */
export async function measureL1Data(client: ChainClient): Promise<L1Data> {
  const read: ReadCalls = (asked) => client.tryCalls(asked);
  const [gas, fees] = await Promise.all([
    measureGas(read),
    l1DataFees(read, [sampleItems(0), sampleItems(PRICED_ITEMS)]),
  ]);
  const [none = 0n, some = 0n] = fees ?? [];
  return { ...gas, itemFee: Number(some > none ? some - none : 0n) / PRICED_ITEMS };
}

/** On other chains than those of Arbitrum nothing is at that address. */
async function measureGas(read: ReadCalls): Promise<Omit<L1Data, "itemFee">> {
  const data = ["0x", `0x${"00".repeat(PRICED_BYTES)}`, randomBytes(PRICED_BYTES, "price")];
  const answers = await read(
    data.map((bytes) => ({
      to: ORACLES.arbitrum,
      data: calls.encodeFunctionData("gasEstimateL1Component", [ZeroAddress, false, bytes]),
    })),
  );
  const [base, zeros, others] = answers.map((answer) => numberOf(answer, 3, ABSURD.gas));
  if (base == null || zeros == null || others == null) return NO_L1_DATA;
  const priceOf = (gas: bigint) => Math.max(0, Math.ceil(Number(gas - base) / PRICED_BYTES));
  return { base: Number(base), zero: priceOf(zeros), other: priceOf(others) };
}

/** The first number of an answer with exactly `numbers` numbers; null for any other answer, and for an absurd value. */
function numberOf(answer: CallAnswer, numbers: number, absurd: bigint): bigint | null {
  if (answer?.length !== 2 + 64 * numbers) return null;
  const [value] = AbiCoder.defaultAbiCoder().decode(["uint256"], answer) as unknown as [bigint];
  return value < absurd ? value : null;
}

function sampleItems(items: number): string {
  const zeros = new Uint8Array(ITEM_BYTES.zero);
  return concat(
    Array.from({ length: items }, (_, index) => [
      zeros,
      randomBytes(ITEM_BYTES.other, `item ${index.toString()}`),
    ]).flat(),
  );
}

/** The same bytes each time. */
function randomBytes(length: number, seed: string): string {
  const pieces = [id(`Moneta L1 data: ${seed}`)];
  while (pieces.length * 32 < length) pieces.push(keccak256(pieces.at(-1) ?? "0x"));
  return concat([getBytes(concat(pieces)).slice(0, length)]);
}
