import type { Message } from "../../../../../scripts/test/messages.ts";

/** Sends the result of a file with as many failed tests, as the program of the contracts does. */
export function send(failed: number): void {
  const file = { path: "a file", seconds: 0, passed: 1, failed, skipped: 0, failures: [] };
  process.send?.({ file } satisfies Message);
}
