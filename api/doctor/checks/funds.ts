import { formatEther } from "ethers";

import { MAX_TRANSACTION_GAS } from "../../domain/gas-measurement.ts";
import { readGasMeasurement } from "../../store/sending/gas-measurement.ts";
import { allLanes } from "../../store/sending/lanes.ts";
import { type Check, ok, problem, warning } from "../check.ts";
import { plural } from "../../shared/plural.ts";

/** A lane should have funds for this many full batches at the present fees. */
const RESERVE = 10n;

/** Lanes can pay for the next batches. */
export const funds: Check = {
  name: "funds",
  asksChain: true,
  run: async ({ client, database, keys, lanes }) => {
    const addresses = new Map((await allLanes(database.read)).map((row) => [row.lane, row.address]));
    for (let lane = 0; lane < lanes; lane++) {
      const address = addresses.get(lane) ?? keys.keyring?.lane(lane).address;
      if (address !== undefined) addresses.set(lane, address);
    }
    const [block, priorityFee] = [await client.latestBlock(), await client.priorityFee()];
    const { measurement } = await readGasMeasurement(database.read);
    const gas = BigInt(Math.min(measurement?.transactionGas ?? MAX_TRANSACTION_GAS, Number(block.gasLimit)));
    // The relayer offers up to this fee, and the node requires funds for all of it.
    const full = gas * (2n * (block.baseFeePerGas ?? 0n) + priorityFee);
    const used = [...addresses].filter(([lane]) => lane < lanes);
    return Promise.all(
      used.map(async ([lane, address]) => {
        const balance = await client.balance(address);
        const name = `lane ${lane.toString()} (${address})`;
        const has = `has ${formatEther(balance)} ether`;
        const advice = `Send it ${formatEther(full * RESERVE)} ether or more.`;
        if (balance === 0n) return problem(`${name} has no funds and cannot send. ${advice}`);
        if (balance < full)
          return problem(`${name} ${has}, but a full batch may cost ${formatEther(full)} ether now. ${advice}`);
        if (balance < full * RESERVE) {
          return warning(
            `${name} is low on funds: it ${has}, enough for ${plural(Number(balance / full), "full batch", "full batches")}. ${advice}`,
          );
        }
        return ok(`${name} ${has}`);
      }),
    );
  },
};
