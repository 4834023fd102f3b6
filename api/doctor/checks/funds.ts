import { formatEther } from "ethers";

import { allLanes } from "../../store/sending/lanes.ts";
import { type Check, ok, problem, warning } from "../check.ts";

/** EIP-7825: the most gas that one transaction can have. */
const FULL_BATCH_GAS = 16_777_216n;
/** Full batches that a lane should be able to pay for at the present fees. */
const RESERVE = 10n;

/** Lanes can pay for what comes. */
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
    const gas = block.gasLimit < FULL_BATCH_GAS ? block.gasLimit : FULL_BATCH_GAS;
    // What the relayer offers at most, and so what must be there.
    const full = gas * (2n * (block.baseFeePerGas ?? 0n) + priorityFee);
    const used = [...addresses].filter(([lane]) => lane < lanes);
    return Promise.all(
      used.map(async ([lane, address]) => {
        const balance = await client.balance(address);
        const name = `lane ${lane.toString()} (${address})`;
        const has = `has ${formatEther(balance)}`;
        const advice = `Send it ${formatEther(full * RESERVE)} or more.`;
        if (balance === 0n) return problem(`${name} is empty: it sends nothing. ${advice}`);
        if (balance < full)
          return problem(`${name} ${has}, and a full batch may cost ${formatEther(full)} now. ${advice}`);
        if (balance < full * RESERVE) {
          return warning(
            `${name} is low: it ${has}, enough for ${(balance / full).toString()} full batches. ${advice}`,
          );
        }
        return ok(`${name} ${has}`);
      }),
    );
  },
};
