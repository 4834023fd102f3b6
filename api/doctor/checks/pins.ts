import { waitingPins } from "../../store/media/pins.ts";
import { type Check, duration, ok, warning } from "../check.ts";

/** What waits for so long is handed over by nobody. In milliseconds. */
const OVERDUE = 300_000;

/** What is hosted is pinned at the operator's IPFS node too. */
export const pins: Check = {
  name: "pins",
  asksChain: false,
  run: async ({ database, pinRpc, now }) => {
    if (pinRpc === null) return [ok("no IPFS node is set (IPFS_PIN_RPC): nothing is to be pinned")];
    const { count, oldest, error } = await waitingPins(database.read);
    if (oldest === null) return [ok("all that is hosted is pinned at the IPFS node")];
    const age = duration(now - oldest);
    const what = count === 1 ? "1 hosted file waits" : `${count.toString()} hosted files wait`;
    const words = `${what} to be pinned, the oldest since ${age}`;
    if (error !== null) return [warning(`${words}. IPFS_PIN_RPC: ${error}.`)];
    if (now - oldest > OVERDUE) return [warning(`${words}. Is a process with the role media running?`)];
    return [ok(words)];
  },
};
