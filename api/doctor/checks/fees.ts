import { formatUnits } from "ethers";

import { type Check, ok, problem } from "../check.ts";

/** The chain's fees are not above what the operator accepts. */
export const fees: Check = {
  name: "fees",
  asksChain: true,
  run: async ({ client, maxFeeGwei }) => {
    const [block, priorityFee] = [await client.latestBlock(), await client.priorityFee()];
    const now = (block.baseFeePerGas ?? 0n) + priorityFee;
    const words = `gas costs ${formatUnits(now, "gwei")} gwei, and MAX_FEE_GWEI allows ${maxFeeGwei.toString()}`;
    if (now <= BigInt(maxFeeGwei) * 10n ** 9n) return [ok(words)];
    return [problem(`G${words.slice(1)}: nothing is sent. Wait for lower fees, or raise MAX_FEE_GWEI.`)];
  },
};
