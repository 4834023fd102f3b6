import { join } from "node:path";

import { Program } from "../../scene/program.ts";

/** Bodies to sign and to post. */
export interface Errand {
  targets: readonly { url: string; secret: string }[];
  /** `target`: place in `targets`. */
  letters: readonly { target: number; id: string; payload: string }[];
  /** Calls at the same time. */
  atOnce: number;
}

/** Runs `bare/sender.ts` for one errand. Resolves when everything is delivered. */
export async function sendBare(errand: Errand): Promise<void> {
  const sender = new Program([join(import.meta.dirname, "bare", "sender.ts")], { channel: true });
  try {
    await sender.ask(errand);
  } finally {
    await sender.end("SIGTERM");
  }
}
