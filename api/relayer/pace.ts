import type { Fees } from "../domain/wei.ts";
import { isDue } from "../store/db/due.ts";
import type { StoredAttempt } from "../store/sending/batches.ts";
import type { CanSend } from "./can-send.ts";

/**
 * Milliseconds from one transaction to the next one, if that is not full and one is in flight. The time grows with each
 * transaction in flight. So a lane sends a few transactions for each block, spread over the time until it comes, whatever
 * that time is. Without the pauses, it would send its transactions right after a block, small ones, and what comes later
 * would miss the next block.
 */
const PAUSE = { first: 500, factor: 1.5 } as const;
/** With this many in flight, only full transactions are sent. With the pauses, reaching this number takes over twelve seconds. */
const MOST_BEFORE_FULL = 8;

/**
 * How long requests that do not fill a transaction wait for others.
 * @param open the lane's transactions in flight, by nonce.
 * @returns milliseconds from now; 0: no longer; null: until a transaction is in a block, or until they fill one.
 */
export function pauseBeforePartial(open: readonly FlightTransaction[], now: number): number | null {
  if (open.length >= MOST_BEFORE_FULL) return null;
  const sentAt = open.at(-1)?.attempts[0]?.createdAt;
  if (sentAt === undefined) return 0;
  const pause = PAUSE.first * PAUSE.factor ** (open.length - 1);
  return isDue(sentAt + pause, now, pause) ? 0 : sentAt + pause - now;
}

/** Transactions that a lane may have in flight on any chain. */
export const LEAST_IN_FLIGHT = 4;
/** A lane has at most this many transactions in flight. Every common node accepts this many from one account, and some refuse more. */
const MOST_IN_FLIGHT = 16;
/** The lanes together keep this many blocks of transactions in flight: one for the next block, and one behind it. */
const BLOCKS_IN_FLIGHT = 2;
/** The share of a block that smaller transactions must gain. For less, they are not made smaller. */
const WORTH_FILLING = 0.02;

/** The gas of a batch's transaction. */
export interface BatchGas {
  limit: number;
  /** What it is expected to use. The rest of the limit is only needed by the checks of the relay. */
  expected: number;
}

/** A transaction in flight, with all its signed versions. */
export interface FlightTransaction {
  attempts: readonly StoredAttempt[];
}

/**
 * Whether a lane may have one more transaction in flight. Blocks stay full only if transactions wait for the next block while
 * the service still reads the last one.
 * @param open the lane's transactions in flight.
 * @param blockGas the gas limit of a block; null: not known yet.
 * @param lanes how many lanes share the blocks.
 */
export function mayAddToFlight(open: readonly FlightTransaction[], blockGas: number | null, lanes: number): boolean {
  if (open.length < LEAST_IN_FLIGHT) return true;
  if (open.length >= MOST_IN_FLIGHT || blockGas === null) return false;
  // The chain takes less than is sent. More transactions would only be replaced as well.
  if (open.some(({ attempts }) => attempts.length > 1)) return false;
  return gasInFlight(open) * lanes < BLOCKS_IN_FLIGHT * blockGas;
}

/**
 * Whether the next transactions should have a size with which they fill blocks. Until half a block of them is in flight, they
 * are as large as possible: a burst of requests then takes fewer transactions.
 */
export function fillsBlocks(open: readonly FlightTransaction[], blockGas: number, lanes: number): boolean {
  return gasInFlight(open) * lanes >= blockGas / 2;
}

function gasInFlight(open: readonly FlightTransaction[]): number {
  return open.reduce((sum, { attempts }) => sum + Number(attempts.at(-1)?.gasLimit ?? 0n), 0);
}

/**
 * Whether the lane can pay for one more transaction beside those in flight. The first ones need no check: they wait in the database
 * until the lane is funded.
 */
export function affordsAnother(
  open: readonly FlightTransaction[],
  able: Pick<CanSend, "funds" | "fees" | "mostGas">,
): boolean {
  return open.length < LEAST_IN_FLIGHT || affordableGas(open, able.funds, able.fees) >= able.mostGas;
}

/**
 * The gas limit that the funds of a lane pay for, beside what is in flight. A node refuses a transaction with a higher one.
 * @param funds in wei.
 */
export function affordableGas(open: readonly FlightTransaction[], funds: bigint, { maxFeePerGas }: Fees): number {
  if (maxFeePerGas === 0n) return Infinity;
  const left = funds - costInFlight(open);
  return left < 0n ? 0 : Number(left / maxFeePerGas);
}

/** The most that transactions in flight can cost, in wei. */
function costInFlight(open: readonly FlightTransaction[]): bigint {
  return open.reduce((sum, { attempts }) => {
    const latest = attempts.at(-1);
    return latest === undefined ? sum : sum + latest.gasLimit * latest.maxFeePerGas;
  }, 0n);
}

/**
 * The gas of a batch with as many items as possible, if all are like those of this one. The size that fills blocks follows from
 * it: from a batch that is small for another reason, the next ones would not grow again.
 * @param size how many items the batch has.
 * @param most how many items, and how much gas, a batch may have.
 */
export function largestLike(
  { limit, expected }: BatchGas,
  size: number,
  most: { items: number; gas: number },
): BatchGas {
  const spare = limit - expected;
  const grown = Math.min((expected * most.items) / Math.max(1, size), most.gas - spare);
  const largest = Math.max(expected, grown);
  return { limit: largest + spare, expected: largest };
}

/**
 * The gas limit with which a batch and others like it fill a block. A node adds a transaction to a block only if its whole
 * gas limit still fits. So the last transaction needs its limit, and each one before it what it uses.
 * @param batch the largest one that is possible.
 * @returns the limit of the largest one, or a smaller one of which one more fits into a block.
 */
export function limitThatFills({ limit, expected }: BatchGas, blockGas: number): number {
  if (limit > blockGas || expected <= 0) return limit;
  const fitting = Math.floor((blockGas - limit) / expected) + 1;
  const spare = limit - expected;
  // With one more, only the spare gas of the last transaction stays empty.
  const gained = blockGas - spare - fitting * expected;
  if (gained < WORTH_FILLING * blockGas) return limit;
  return Math.floor((blockGas + fitting * spare) / (fitting + 1));
}
