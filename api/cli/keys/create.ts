import type { Command } from "commander";

import { parseSettings } from "../../config/settings.ts";
import { newSeedPhrase, writeSeedFile } from "../../keys/seed-file.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";
import { describeKeys, laneAddresses, requirePassphrase } from "./lane-addresses.ts";

export function keysCreate(terminal: Terminal): Command {
  return resultCommand("create", "Makes a new seed and writes it, encrypted, to SEED_FILE. Never overwrites one.")
    .option("--show-phrase", "print the 24 words once, to be written down and kept away from the machine")
    .action(async (options: { json?: boolean; showPhrase?: boolean }) => {
      const settings = parseSettings(terminal.env);
      const phrase = newSeedPhrase();
      await writeSeedFile(settings.seedFile, phrase, requirePassphrase(settings));
      const result = {
        seed_file: settings.seedFile,
        lanes: laneAddresses(phrase, settings.lanes),
        ...(options.showPhrase === true ? { phrase } : {}),
      };
      printResult(terminal, options.json, result, describeKeys("Wrote", result));
    });
}
