import type { Block, ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { readRelayStatus } from "../chain/reads.ts";
import { unknownTransaction } from "../domain/conditions.ts";
import type { Database } from "../store/db/database.ts";
import { readMeta } from "../store/db/meta.ts";
import { CannotSend } from "./cannot-send.ts";
import { currentFees, type Fees } from "./fees.ts";

interface SendingContext {
  client: ChainClient;
  contracts: ContractAddresses;
  /** Highest price per unit of gas that the operator accepts, in wei. */
  maxFeePerGas: bigint;
}

export interface CanSend {
  /** In wei. */
  fees: Fees;
  /** What the lane has to pay for gas, in wei. */
  funds: bigint;
  /** The newest block that the node has. */
  block: Block;
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
 * @param lane address of the sending key.
 * @throws CannotSend
 */
export function checkCanSend({ client, contracts, maxFeePerGas }: SendingContext, lane: string): Promise<CanSend> {
  return client.nodes.session(async () => {
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
    return { fees, funds, block, node: client.nodes.number };
  });
}
