import type { Logger } from "pino";

import { cryptoProblem } from "../shared/crypto.ts";

/** Says in the log when slower code is used. */
export function reportCrypto(logger: Logger): void {
  if (cryptoProblem === null) return;
  logger.warn(
    { err: cryptoProblem },
    "WebAssembly libraries cannot be loaded: signing and hashing use slower JavaScript code. Run `npm ci` to install them again.",
  );
}
