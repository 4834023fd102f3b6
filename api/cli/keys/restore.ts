import { text } from "node:stream/consumers";

import type { Command } from "commander";
import { Mnemonic } from "ethers";

import { OperatorError } from "../../operator/operator-error.ts";
import { parseSettings } from "../../config/settings.ts";
import { writeSeedFile } from "../../keys/seed-file.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";
import { describeKeys, laneAddresses, requirePassphrase } from "./lane-addresses.ts";

export function keysRestore(terminal: Terminal): Command {
  return resultCommand(
    "restore",
    "Reads the words of a seed from standard input and writes them, encrypted, to SEED_FILE. Never overwrites one.",
  ).action(async (options: { json?: boolean }) => {
    const settings = parseSettings(terminal.env);
    const passphrase = requirePassphrase(settings);
    const phrase = (await text(process.stdin)).trim().split(/\s+/).join(" ");
    if (!Mnemonic.isValidMnemonic(phrase)) {
      throw new OperatorError("Standard input does not hold the words of a seed (BIP-39, with their checksum).");
    }
    await writeSeedFile(settings.seedFile, phrase, passphrase);
    const result = { seed_file: settings.seedFile, lanes: laneAddresses(phrase, settings.lanes) };
    printResult(terminal, options.json, result, describeKeys("Wrote", result));
  });
}
