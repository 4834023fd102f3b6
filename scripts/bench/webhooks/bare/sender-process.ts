import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** Bodies to sign and to post. */
export interface Errand {
  targets: readonly { url: string; secret: string }[];
  /** `target`: place in `targets`. */
  letters: readonly { target: number; id: string; payload: string }[];
  /** Calls at the same time. */
  atOnce: number;
}

/** Runs `sender.ts` for one errand. Resolves when everything is delivered. */
export async function sendBare(errand: Errand): Promise<void> {
  const child = fork(join(import.meta.dirname, "sender.ts"), [], { execArgv: [] });
  const gone = once(child, "exit");
  child.send(errand);
  const ended = await Promise.race([once(child, "message"), gone.then(() => null)]);
  child.kill();
  await gone;
  if (ended === null) throw new Error("the bare sender failed");
}
