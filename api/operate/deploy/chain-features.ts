import { delegatingCalls, delegationSupport } from "../../chain/delegation.ts";
import { OperatorError } from "../operator-error.ts";
import type { Say } from "./transactions.ts";

/** Sends one JSON-RPC call; throws if the node refuses it. */
export interface RawRpc {
  send(method: string, params: unknown[]): Promise<unknown>;
}

/** EIP-7825: the gas limit of one transaction since the Osaka hard fork. */
export const TRANSACTION_GAS_CAP = 16_777_216n;

/** Creation code that runs one opcode and stops; without the opcode the call fails. */
const OPCODES = [
  { name: "PUSH0 (EIP-3855)", code: "0x5f5ff3" },
  { name: "MCOPY (EIP-5656)", code: "0x6000600060005e60006000f3" },
  { name: "transient storage (EIP-1153)", code: "0x600160005d60005c60006000f3" },
];
/** Opcodes that all chains have: PUSH1, PUSH1, RETURN. */
const CONTROL = "0x60006000f3";

/**
 * Asks the node what the chain supports, and prints it. Sends no transaction and needs no funds.
 * @throws OperatorError if the chain lacks something that the contracts need.
 */
export async function announceChain(chainId: bigint, rpc: RawRpc, from: string, say: Say): Promise<void> {
  const runs = async (code: string) => (await tried(rpc, "eth_call", [{ data: code }, "latest"])) !== null;
  // Without this control, a node that refuses all such calls would look like a chain without the opcode.
  const refusal = (await runs(CONTROL)) ? "no" : "unknown";
  const missing: string[] = [];
  const print = (name: string, support: string, note: string, required: boolean) => {
    say(`  chain     ${name}: ${support}${support === "yes" ? "" : ` (${note})`}`);
    if (required && support === "no") missing.push(name);
  };
  for (const { name, code } of OPCODES)
    print(name, (await runs(code)) ? "yes" : refusal, "the contracts do not run without it", true);
  const fees = (await latestBlock(rpc))?.baseFeePerGas === undefined ? "no" : "yes";
  print("base fee (EIP-1559)", fees, "the service sends only transactions of this type", true);
  const { plain, delegating } = delegatingCalls(chainId, from);
  const gasOf = async (call: object) => {
    const gas = await tried(rpc, "eth_estimateGas", [call]);
    return gas === null ? null : BigInt(gas as string);
  };
  print(
    "delegation (EIP-7702)",
    delegationSupport(await gasOf(plain), await gasOf(delegating)),
    "without it, tokens of foreign contracts cannot be transferred or burnt; everything else works",
    false,
  );
  if (missing.length === 0) return;
  throw new OperatorError(
    `This chain does not support ${missing.join(", ")}. Moneta needs the rules of the ` +
      `Cancun hard fork or later, and fees by EIP-1559. Nothing was sent.`,
  );
}

export async function blockGasLimit(rpc: RawRpc): Promise<bigint | null> {
  const limit = (await latestBlock(rpc))?.gasLimit;
  return limit === undefined ? null : BigInt(limit);
}

async function latestBlock(rpc: RawRpc): Promise<{ gasLimit?: string; baseFeePerGas?: string } | null> {
  return (await rpc.send("eth_getBlockByNumber", ["latest", false])) as {
    gasLimit?: string;
    baseFeePerGas?: string;
  } | null;
}

/** @returns null when the node refuses the call: the refusal is the answer. */
function tried(rpc: RawRpc, method: string, params: unknown[]): Promise<unknown> {
  return rpc.send(method, params).catch(() => null);
}
