import type { Block, ChainClient } from "../chain/client.ts";
import { NodeDisagrees, reasonOfChain } from "../chain/errors.ts";
import { readRelayStatus } from "../chain/reads.ts";
import { type Condition, offeredPrice, unknownTransaction } from "../domain/conditions.ts";
import type { StoredReason } from "../domain/waiting-for.ts";
import { type Fees, GWEI, max, min } from "../domain/wei.ts";
import type { Database } from "../store/db/database.ts";
import { readMeta } from "../store/db/meta.ts";
import type { RelayerContext } from "./context.ts";

/** Why a lane cannot send any batch at all. */
type CannotSendCode =
  "unknown_transaction" | "no_relay" | "not_operator" | "relay_paused" | "no_funds" | "fees_too_high";

/**
 * What a code is called for apps, and in `doctor` and `/metrics`. Apps can do nothing about the other codes, which name the
 * installation.
 */
const NAMES: Partial<Record<CannotSendCode, { reason: StoredReason; condition?: Condition }>> = {
  relay_paused: { reason: "paused", condition: "relay_paused" },
  no_funds: { reason: "low_funds", condition: "low_funds" },
  fees_too_high: { reason: "fees_too_high" },
};

/** What an error of a lane is called for apps. */
export function reasonOf(error: unknown): StoredReason {
  return error instanceof CannotSend ? (NAMES[error.code]?.reason ?? "unknown") : reasonOfChain(error);
}

/** Nothing can be sent now. The code says why to programs, the message says why to people and what to do next. */
export class CannotSend extends Error {
  override readonly name = "CannotSend";
  readonly code: CannotSendCode;

  constructor(code: CannotSendCode, message: string) {
    super(message);
    this.code = code;
  }

  get condition(): Condition | undefined {
    return NAMES[this.code]?.condition;
  }
}

/** What one node says about sending now. */
export interface CanSend {
  /** In wei. */
  fees: Fees;
  /** What the lane has to pay for gas, in wei. */
  funds: bigint;
  /** The newest block that the node has, and its gas limit. */
  block: number;
  blockGas: number;
  /** The highest gas limit of a transaction. */
  mostGas: number;
  /** The node that said this. What else the batch reads must come from it. */
  node: number;
}

/**
 * Checks that the chain has shown no transaction of the lanes that the database does not know. It may have run requests that
 * are still waiting here.
 * @throws CannotSend
 */
export async function checkDatabaseIsNewest(database: Database): Promise<void> {
  const hash = await readMeta(database.read, "unknown_transaction");
  if (hash !== null) throw new CannotSend("unknown_transaction", unknownTransaction(hash));
}

/**
 * Checks what would make every transaction revert or stay unmined, before a nonce is spent on one. The reads do not
 * depend on each other, so they are made at the same time. One node answers them all.
 * @throws CannotSend
 */
export function checkCanSend(context: RelayerContext, index: number): Promise<CanSend> {
  const { client, contracts, keyring, maxFeePerGas, gas } = context;
  const { address: lane } = keyring.lane(index);
  return agreedByNodes(client, async () => {
    const [{ fees, block }, { paused, operators }, funds] = await Promise.all([
      currentFees(client, maxFeePerGas),
      readRelayStatus(client, contracts.relay, [lane]),
      client.balance(lane),
    ]);
    const [isOperator] = operators;
    if (isOperator == null || paused === null) {
      throw new CannotSend("no_relay", `no relay answers at ${contracts.relay}: check ${client.nodes.where}`);
    }
    if (!isOperator) {
      throw new CannotSend(
        "not_operator",
        `the relay ${contracts.relay} does not know operator ${lane}: its owner must call setOperator for it`,
      );
    }
    if (paused) {
      throw new CannotSend("relay_paused", `the relay ${contracts.relay} is paused: its owner must call unpause`);
    }
    // On some chains gas is free.
    if (funds === 0n && fees.maxFeePerGas > 0n) {
      throw new CannotSend("no_funds", `lane ${lane} has no funds: send it the chain's own currency to pay for gas`);
    }
    const blockGas = Number(block.gasLimit);
    const mostGas = Math.min(gas.current.transactionGas, blockGas);
    return { fees, funds, block: block.number, blockGas, mostGas, node: client.nodes.number };
  });
}

/**
 * Asks a node what sending depends on. What stops it counts only if no other node contradicts, or as many say the same. Otherwise
 * the node rests, and the next one answers.
 * @throws CannotSend
 */
function agreedByNodes<T>({ nodes }: ChainClient, ask: () => Promise<T>): Promise<T> {
  return nodes.session(async () => {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof CannotSend)) throw error;
      const others = await nodes.vote(() => ask().then(() => true, isCannotSend), "working others");
      const saying = (able: boolean) => others.filter(({ answer }) => answer === able).length;
      if (saying(true) <= saying(false)) throw error;
      return nodes.skip(new NodeDisagrees(`it says what other nodes contradict: ${error.message}`));
    }
  });
}

/** @throws any other error */
function isCannotSend(error: unknown): false {
  if (error instanceof CannotSend) return false;
  throw error;
}

/**
 * Fees that stay valid until the base fee doubles (EIP-1559), but never above the ceiling. In wei.
 * @returns them with the newest block, which they come from.
 * @param ceiling highest price per unit of gas that the operator accepts, in wei.
 * @throws CannotSend when the ceiling does not cover the next block.
 */
export async function currentFees(client: ChainClient, ceiling: bigint): Promise<{ fees: Fees; block: Block }> {
  const [block, tip] = await Promise.all([client.latestBlock(), client.priorityFee()]);
  return { fees: feesFor(block.baseFeePerGas ?? 0n, tip, ceiling), block };
}

function feesFor(baseFee: bigint, tip: bigint, ceiling: bigint): Fees {
  const least = baseFee + tip;
  if (least > ceiling) {
    throw new CannotSend(
      "fees_too_high",
      `gas costs ${inGwei(least)} gwei, and MAX_FEE_GWEI allows ${inGwei(ceiling)}: wait for lower fees or raise MAX_FEE_GWEI`,
    );
  }
  return { maxFeePerGas: offeredPrice(baseFee, tip, ceiling), maxPriorityFeePerGas: tip };
}

/**
 * The fees for a transaction that stays unmined. The node may have named a base fee that is too low: of two nodes, the higher one
 * counts. One that is too high costs nothing: the block decides what is paid.
 * @throws CannotSend
 */
export function feesOfReplacement(client: ChainClient, ceiling: bigint): Promise<{ fees: Fees; block: Block }> {
  return agreedByNodes(client, async () => {
    const { fees, block } = await currentFees(client, ceiling);
    const other = await client.nodes.second(() => client.latestBlock());
    const { maxPriorityFeePerGas: tip } = fees;
    const baseFee = max(block.baseFeePerGas ?? 0n, min(other?.baseFeePerGas ?? 0n, ceiling - tip));
    return { fees: feesFor(baseFee, tip, ceiling), block };
  });
}

/** Rounded up, for messages. */
function inGwei(wei: bigint): string {
  return ((wei + GWEI - 1n) / GWEI).toString();
}
