import type { ChainClient } from "../chain/client.ts";
import { abi, type ContractAddresses } from "../chain/contracts.ts";
import { currentFees } from "./fees.ts";
import type { Fees } from "./sign.ts";

interface SendingContext {
  client: ChainClient;
  contracts: ContractAddresses;
  /** Most to be paid for a unit of gas, in wei. */
  maxFeePerGas: bigint;
}

/**
 * What would make a whole transaction revert, or keep it out of every block, is found out before a nonce is spent on it.
 * @param lane address of the sending key.
 * @returns the fees of the moment and the lane's funds, in wei.
 * @throws when nothing can be sent; the words say why.
 */
export async function checkCanSend(context: SendingContext, lane: string): Promise<{ fees: Fees; funds: bigint }> {
  const { client, contracts, maxFeePerGas } = context;
  const fees = await currentFees(client, maxFeePerGas);
  const [operator, paused] = await client.tryCalls([
    { to: contracts.relay, data: abi.relay.encodeFunctionData("isOperator", [lane]) },
    { to: contracts.relay, data: abi.relay.encodeFunctionData("paused") },
  ]);
  if (operator == null || paused == null) throw new Error(`no relay answers at ${contracts.relay}`);
  if (BigInt(operator) !== 1n) throw new Error(`the relay ${contracts.relay} does not know operator ${lane}`);
  if (BigInt(paused) !== 0n) throw new Error("the relay is paused by its owner");
  const funds = await client.balance(lane);
  // There are chains on which gas costs nothing.
  if (funds === 0n && fees.maxFeePerGas > 0n) throw new Error(`lane ${lane} has no funds`);
  return { fees, funds };
}
