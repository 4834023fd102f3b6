import { formatEther } from "ethers";

import { FUNDS_FOR_BATCHES, isLowOnFunds } from "../../domain/conditions.ts";
import { plural } from "../../shared/plural.ts";
import { type Check, ok, problem, warning } from "../check.ts";
import { readLaneFunds } from "../lane-funds.ts";

/** Lanes can pay for the next batches. */
export const funds: Check = {
  name: "funds",
  asksChain: true,
  run: async (context) => {
    const { funds: found, batchCost: full } = await readLaneFunds(context);
    return found.map(({ lane, address, balance }) => {
      const name = `lane ${lane.toString()} (${address})`;
      const has = `has ${formatEther(balance)} ether`;
      const advice = `Send it ${formatEther(full * FUNDS_FOR_BATCHES)} ether or more.`;
      if (balance === 0n) return problem(`${name} has no funds and cannot send. ${advice}`, "low_funds");
      if (balance < full) {
        const words = `${name} ${has}, but a full batch may cost ${formatEther(full)} ether now. ${advice}`;
        return problem(words, "low_funds");
      }
      if (isLowOnFunds(balance, full)) {
        return warning(
          `${name} is low on funds: it ${has}, enough for ${plural(Number(balance / full), "full batch", "full batches")}. ${advice}`,
          "low_funds",
        );
      }
      return ok(`${name} ${has}`);
    });
  },
};
