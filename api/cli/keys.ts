import { text } from "node:stream/consumers";

import type { Command } from "commander";
import { Mnemonic } from "ethers";

import { MOST_LANES, XPUB_IS_PRIVATE } from "../config/parsers.ts";
import { parseSettings, type Settings } from "../config/settings.ts";
import { createKeyring } from "../keys/keyring.ts";
import { newSeedPhrase, readSeedFile, weaknessOf, weakPassphrase, writeSeedFile } from "../keys/seed-file.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { reseal, type Resealed } from "../operate/reseal.ts";
import { plural } from "../shared/text.ts";
import { reuseLanes } from "../store/sending/lanes.ts";
import { announced } from "./announced.ts";
import { withServiceState } from "./database.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

export function keysCreate(terminal: Terminal): Command {
  return resultCommand("create", "Create a seed and write it, encrypted with SEED_PASSPHRASE, to SEED_FILE.", {
    examples: ["keys create --show-phrase"],
    json: "{seed_file, xpub, import_key, lanes: [address], phrase}. `phrase` only with --show-phrase.",
    notes: `Never overwrites a file. ${XPUB_IS_PRIVATE}`,
  })
    .option("--show-phrase", "print the 24 words of the seed: write them down and store them offline")
    .action(async (options: { json?: boolean; showPhrase?: boolean }) => {
      const settings = parseSettings(terminal.env);
      const phrase = newSeedPhrase();
      await writeSeedFile(settings.seedFile, phrase, requireStrongPassphrase(settings));
      const shown = options.showPhrase === true ? { phrase } : {};
      printKeys(terminal, options.json, "created", { settings, phrase, shown });
    });
}

export function keysCheck(terminal: Terminal): Command {
  return resultCommand(
    "check",
    "Decrypt SEED_FILE with SEED_PASSPHRASE and print its public keys and the lane addresses.",
    {
      examples: ["keys check"],
      json: "{seed_file, xpub, import_key, lanes: [address]}",
      notes: XPUB_IS_PRIVATE,
    },
  ).action(async (options: { json?: boolean }) => {
    const settings = parseSettings(terminal.env);
    const passphrase = requirePassphrase(settings);
    const phrase = await readSeedFile(settings.seedFile, passphrase);
    const weakness = weaknessOf(passphrase);
    if (weakness !== null) terminal.remark?.(`${weakPassphrase(weakness)}\n`);
    printKeys(terminal, options.json, "valid", { settings, phrase });
  });
}

export function keysRestore(terminal: Terminal): Command {
  return resultCommand(
    "restore",
    "Read the words of a seed from standard input and write them, encrypted, to SEED_FILE.",
    {
      examples: ["keys restore < words.txt"],
      json: "{seed_file, xpub, import_key, lanes: [address]}",
      notes: `Never overwrites a file. ${XPUB_IS_PRIVATE}`,
    },
  ).action(async (options: { json?: boolean }) => {
    const settings = parseSettings(terminal.env);
    const passphrase = requireStrongPassphrase(settings);
    const phrase = (await text(terminal.input)).trim().split(/\s+/).join(" ");
    if (!Mnemonic.isValidMnemonic(phrase)) {
      throw new OperatorError(
        "Standard input is not a valid seed phrase. Check the spelling and the order of the words (BIP-39).",
      );
    }
    await writeSeedFile(settings.seedFile, phrase, passphrase);
    printKeys(terminal, options.json, "restored", { settings, phrase });
  });
}

interface Seed {
  settings: Settings;
  phrase: string;
  /** The words, to be shown. */
  shown?: { phrase?: string };
}

/** Prints the public keys of a seed. The addresses of the lanes are public; the extended public key must stay private. */
function printKeys(
  terminal: Terminal,
  json: boolean | undefined,
  what: "created" | "restored" | "valid",
  { settings: { seedFile, lanes }, phrase, shown = {} }: Seed,
): void {
  const keyring = createKeyring(phrase);
  const addresses = lanes.map((lane) => keyring.lane(lane).address);
  const { walletsPublicKey: xpub, importKey: key } = keyring;
  const text = [
    `${what}: ${seedFile}`,
    `xpub    ${xpub}`,
    `        ${XPUB_IS_PRIVATE}`,
    `import  ${key}`,
    "        For `wallets import --import-key`. It is public.",
    ...addresses.map((address, index) => `lane ${lanes[index]?.toString() ?? ""}  ${address}`),
    ...(shown.phrase === undefined ? [] : ["", shown.phrase]),
  ];
  printResult(
    terminal,
    json,
    { seed_file: seedFile, xpub, import_key: key, lanes: addresses, ...shown },
    text.join("\n"),
  );
}

/** @throws OperatorError */
function requirePassphrase(settings: Pick<Settings, "seedPassphrase">): string {
  if (settings.seedPassphrase === null) {
    throw new OperatorError(
      "SEED_PASSPHRASE is not set. Set it in the environment or in .env: it encrypts the seed file.",
    );
  }
  return settings.seedPassphrase;
}

/** For a new seed file. @throws OperatorError */
function requireStrongPassphrase(settings: Pick<Settings, "seedPassphrase">): string {
  const passphrase = requirePassphrase(settings);
  const weakness = weaknessOf(passphrase);
  if (weakness !== null) throw new OperatorError(`SEED_PASSPHRASE is weak: ${weakness}. No file was written.`);
  return passphrase;
}

export function keysRotate(terminal: Terminal): Command {
  return resultCommand("rotate", "Re-encrypt the database with the newest key, which is the first of SECRET_KEYS.", {
    examples: ["keys rotate"],
    json: "{key, resealed, unchanged, idempotency_keys}",
    notes:
      "1. Put the new key first in SECRET_KEYS, before the old ones. 2. Restart the service.\n" +
      "3. Run this command; the service may run. 4. Remove the old keys from SECRET_KEYS.\n" +
      "If the command is interrupted, run it again: it continues.\n" +
      "Values that a version before 0.3.0 encrypted are bound to their row, also without a new key, and from then on values " +
      "without a row are refused. Use a new key if somebody may have a copy of the old values: it makes them useless.",
  }).action(async ({ json }: { json?: boolean }) => {
    const result = await withServiceState(terminal, ({ database, keys: { sealer, sealerProblem } }) => {
      if (sealer === null) throw new OperatorError(sealerProblem ?? "SECRET_KEYS is not set.");
      return announced(database, () => reseal({ database, sealer }));
    });
    printResult(terminal, json, result, describe(result));
  });
}

export function keysReuse(terminal: Terminal): Command {
  return resultCommand("reuse", "State that this database is a new installation with a seed that was used before.", {
    examples: ["keys reuse"],
    json: "{lanes: [{address, transactions}]}",
    notes:
      "Needed once, if the lanes of the seed have transactions and the database is new. First make sure that no other service " +
      "uses the seed: two services with one seed carry out requests twice.",
  }).action(async ({ json }: { json?: boolean }) => {
    const lanes = await withServiceState(terminal, async ({ database, client, keys: { keyring, seedProblem } }) => {
      if (keyring === null) throw new OperatorError(seedProblem ?? "There is no seed. Set SEED_FILE.");
      const addresses = Array.from({ length: MOST_LANES }, (_, lane) => keyring.lane(lane).address);
      const [mined, pending] = [
        await client.highestNonces(addresses),
        await client.highestNonces(addresses, "pending"),
      ];
      if (addresses.some((_, index) => (pending[index] ?? 0) > (mined[index] ?? 0)))
        throw new OperatorError(
          "Transactions of the lanes wait in the node's pool. Stop the other service that uses the seed, and wait until they are mined.",
        );
      const used = addresses
        .map((address, index) => ({ address, transactions: mined[index] ?? 0 }))
        .filter(({ transactions }) => transactions > 0);
      const nonces = new Map(used.map(({ address, transactions }) => [address, transactions]));
      if (!(await database.write((trx) => reuseLanes(trx, nonces))))
        throw new OperatorError("This database has sent transactions, so it is not new. Nothing was changed.");
      return used;
    });
    const names = lanes.map(({ address, transactions }) => `${address} (${plural(transactions, "transaction")})`);
    printResult(
      terminal,
      json,
      { lanes },
      `This database is a new installation. The lanes go on: ${names.join(", ") || "unused"}.`,
    );
  });
}

function describe(result: Resealed): string {
  const lines = [
    `Re-encrypted ${plural(result.resealed, "value")} with key ${result.key}. ${plural(result.unchanged, "value")} already used it.`,
    "The database no longer needs older keys. Remove them from SECRET_KEYS on every process at the same time.",
  ];
  if (result.idempotency_keys > 0) {
    lines.push(
      `${plural(result.idempotency_keys, "idempotency key")} can be checked only with older keys. Without those keys, a ` +
        "repeated call gets 409 instead of its first response. Nothing is done twice.",
    );
  }
  return lines.join("\n");
}
