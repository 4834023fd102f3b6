import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

import type { Environment, Settings } from "../config/settings.ts";
import { deployerKeyOf } from "../keys/keyring.ts";
import { readSeedFile } from "../keys/seed-file.ts";
import { OperatorError } from "../operate/operator-error.ts";

/** Time that a command has to print the key, in milliseconds. Somebody may have to confirm it. */
const COMMAND_WITHIN = 300_000;
/** Bytes that it may print. */
const LONGEST_OUTPUT = 10_000;

/** Where an operator says that the key is. Neither: in DEPLOYER_PRIVATE_KEY. */
export interface KeyPlace {
  keyFile?: string;
  /** A command of the shell that prints the key, such as that of a password manager. */
  keyCommand?: string;
}

/**
 * The private key of the account that deploys the contracts, if the operator gives one.
 * @returns null when there is none. @throws OperatorError
 */
export function givenDeployerKey(env: Environment, { keyFile, keyCommand }: KeyPlace): string | null {
  if (keyFile !== undefined && keyCommand !== undefined)
    throw new OperatorError("Name the key once: by a file or by a command.");
  if (keyFile !== undefined) return parseKey(keyFile, readKeyFile(keyFile));
  if (keyCommand !== undefined) return parseKey("The output of the key's command", outputOf(keyCommand));
  const text = env["DEPLOYER_PRIVATE_KEY"]?.trim() ?? "";
  return text === "" ? null : parseKey("DEPLOYER_PRIVATE_KEY", text);
}

/** The given key, or the one that `init` made from the seed. @throws OperatorError when there is neither */
export async function requireDeployerKey(env: Environment, place: KeyPlace, settings: Settings): Promise<string> {
  const key = givenDeployerKey(env, place) ?? (await seedDeployerKey(settings));
  if (key !== null) return key;
  throw new OperatorError(
    "The private key of the account that pays for the deployment is missing. Set DEPLOYER_PRIVATE_KEY, name the key with " +
      "--key-file or --key-command, or set SEED_FILE and SEED_PASSPHRASE for the account that `init` made. If the key must " +
      "not be on this machine: --unsigned <file> --from <address>.",
  );
}

/** The key that `init` made from the seed; null: there is no seed file, or no passphrase. @throws SeedFileError */
export async function seedDeployerKey({ seedFile, seedPassphrase }: Settings): Promise<string | null> {
  if (seedPassphrase === null || !existsSync(seedFile)) return null;
  return deployerKeyOf(await readSeedFile(seedFile, seedPassphrase));
}

function parseKey(source: string, text: string): string {
  const key = /^(?:0x)?([0-9a-f]{64})$/i.exec(text.trim())?.[1];
  if (key !== undefined) return `0x${key}`;
  throw new OperatorError(`${source} is not a private key: it must be 0x and 64 hexadecimal digits.`);
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new OperatorError(`The key's file ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? ""}).`, {
      cause: error,
    });
  }
}

/** What it prints on standard error is shown. */
function outputOf(command: string): string {
  try {
    return execFileSync(command, {
      shell: true,
      encoding: "utf8",
      stdio: ["inherit", "pipe", "inherit"],
      timeout: COMMAND_WITHIN,
      maxBuffer: LONGEST_OUTPUT,
    });
  } catch {
    // Node's error would show what the command printed, and that may be a part of the key.
    throw new OperatorError("The key's command failed. It must print the private key and end with exit code 0.");
  }
}
