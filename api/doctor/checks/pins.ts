import { waitingPins } from "../../store/media/pins.ts";
import { type Check, duration, ok, warning } from "../check.ts";
import { plural } from "../../shared/plural.ts";

/** A pin that waits longer is overdue: a running media worker is much faster. In milliseconds. */
const OVERDUE = 300_000;

/** The operator's IPFS node also pins the hosted files. */
export const pins: Check = {
  name: "pins",
  asksChain: false,
  run: async ({ database, pinRpc, now }) => {
    if (pinRpc === null) return [ok("no IPFS node is set (IPFS_PIN_RPC), so nothing is pinned there")];
    const { count: waiting, oldest, error } = await waitingPins(database.read);
    if (oldest === null) return [ok("the IPFS node has pinned all hosted files")];
    const age = duration(now - oldest);
    const words = `${plural(waiting, "file is", "files are")} waiting to be pinned or unpinned, the oldest for ${age}`;
    if (error !== null)
      return [warning(`${words}. The node at IPFS_PIN_RPC answered: ${error}. Check that it runs and accepts pins.`)];
    if (now - oldest > OVERDUE) return [warning(`${words}. Check that a process with the role media runs.`)];
    return [ok(words)];
  },
};
