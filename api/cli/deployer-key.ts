import { readFileSync } from "node:fs";

import type { Environment } from "../config/settings.ts";
import { OperatorError } from "../operate/operator-error.ts";

/**
 * The private key of the account that deploys the contracts, if the operator gives one.
 * @param file with the key; undefined: that of DEPLOYER_PRIVATE_KEY. @returns null when there is none. @throws OperatorError
 */
export function givenDeployerKey(env: Environment, file: string | undefined): string | null {
  const source = file ?? "DEPLOYER_PRIVATE_KEY";
  const text = (file === undefined ? env["DEPLOYER_PRIVATE_KEY"] : readFileSync(file, "utf8"))?.trim() ?? "";
  if (text === "" && file === undefined) return null;
  const key = /^(?:0x)?([0-9a-f]{64})$/i.exec(text)?.[1];
  if (key !== undefined) return `0x${key}`;
  throw new OperatorError(`${source} is not a private key: it must be 0x and 64 hexadecimal digits.`);
}
