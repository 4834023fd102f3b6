import { text } from "node:stream/consumers";

import type { Command } from "commander";
import { Mnemonic } from "ethers";

import { OperatorError } from "../../operator/operator-error.ts";
import { XPUB_IS_PRIVATE } from "../../config/extended-public-key.ts";
import { parseSettings } from "../../config/settings.ts";
import { writeSeedFile } from "../../keys/seed-file.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";
import { describeKeys, publicKeys, requireStrongPassphrase } from "./describe-keys.ts";

export function keysRestore(terminal: Terminal): Command {
  return resultCommand(
    "restore",
    "Read the words of a seed from standard input and write them, encrypted, to SEED_FILE.",
    {
      examples: ["keys restore < words.txt"],
      json: "{seed_file, xpub, lanes: [address]}",
      notes: `Never overwrites a file. ${XPUB_IS_PRIVATE}`,
    },
  ).action(async (options: { json?: boolean }) => {
    const settings = parseSettings(terminal.env);
    const passphrase = requireStrongPassphrase(settings);
    const phrase = (await text(process.stdin)).trim().split(/\s+/).join(" ");
    if (!Mnemonic.isValidMnemonic(phrase)) {
      throw new OperatorError(
        "Standard input is not a valid seed phrase. Check the spelling and the order of the words (BIP-39).",
      );
    }
    await writeSeedFile(settings.seedFile, phrase, passphrase);
    const result = { seed_file: settings.seedFile, ...publicKeys(phrase, settings.lanes) };
    printResult(terminal, options.json, result, describeKeys("restored", result, settings.lanes));
  });
}
