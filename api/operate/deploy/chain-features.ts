import { toQuantity } from "ethers";

import { delegatingCalls, delegationSupport } from "../../chain/delegation.ts";

/** What a chain can do. "unknown": the node gave no usable answer. */
type Support = "yes" | "no" | "unknown";

interface Feature {
  name: string;
  support: Support;
  /** What does not work without it, or a detail. */
  note: string;
  /** Whether the contracts cannot be deployed or cannot work without it. */
  required: boolean;
}

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

/** Asks the node what the chain supports. Sends no transaction and needs no funds. */
export async function probeChain(rpc: RawRpc, chainId: bigint, from: string): Promise<Feature[]> {
  const features: Feature[] = [];
  for (const { name, code } of OPCODES) {
    features.push({
      name,
      support: await probeOpcode(rpc, code),
      note: "the contracts do not run without it",
      required: true,
    });
  }
  features.push(
    {
      name: "base fee (EIP-1559)",
      support: (await latestBlock(rpc))?.baseFeePerGas === undefined ? "no" : "yes",
      note: "the service sends only transactions of this type",
      required: true,
    },
    {
      name: "delegation (EIP-7702)",
      support: await probeDelegation(rpc, chainId, from),
      note: "without it, tokens of foreign contracts cannot be transferred or burnt; everything else works",
      required: false,
    },
    {
      name: "limit per transaction (EIP-7825)",
      support: await probeTransactionCap(rpc, from),
      note: `if yes, a transaction uses at most ${TRANSACTION_GAS_CAP.toLocaleString("en-US")} gas; the service keeps to it anyway`,
      required: false,
    },
  );
  return features;
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

async function probeOpcode(rpc: RawRpc, code: string): Promise<Support> {
  if (await accepts(rpc, "eth_call", [{ data: code }, "latest"])) return "yes";
  // Without this control, a node that refuses all such calls would look like a chain without the opcode.
  return (await accepts(rpc, "eth_call", [{ data: CONTROL }, "latest"])) ? "no" : "unknown";
}

async function probeDelegation(rpc: RawRpc, chainId: bigint, from: string): Promise<Support> {
  const { plain, delegating } = delegatingCalls(chainId, from);
  return delegationSupport(await estimate(rpc, plain), await estimate(rpc, delegating));
}

async function probeTransactionCap(rpc: RawRpc, from: string): Promise<Support> {
  const call = (gas: bigint) => [{ from, to: from, gas: toQuantity(gas) }, "latest"];
  if (!(await accepts(rpc, "eth_call", call(TRANSACTION_GAS_CAP)))) return "unknown";
  return (await accepts(rpc, "eth_call", call(TRANSACTION_GAS_CAP + 1n))) ? "unknown" : "yes";
}

async function accepts(rpc: RawRpc, method: string, params: unknown[]): Promise<boolean> {
  try {
    await rpc.send(method, params);
    return true;
  } catch {
    // The refusal is the answer.
    return false;
  }
}

async function estimate(rpc: RawRpc, call: object): Promise<bigint | null> {
  try {
    return BigInt((await rpc.send("eth_estimateGas", [call])) as string);
  } catch {
    // The refusal is the answer.
    return null;
  }
}
