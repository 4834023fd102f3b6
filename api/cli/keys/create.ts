import type { Command } from "commander";

import { XPUB_IS_PRIVATE } from "../../config/extended-public-key.ts";
import { parseSettings } from "../../config/settings.ts";
import { newSeedPhrase, writeSeedFile } from "../../keys/seed-file.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";
import { describeKeys, publicKeys, requireStrongPassphrase } from "./describe-keys.ts";

export function keysCreate(terminal: Terminal): Command {
  return resultCommand("create", "Create a seed and write it, encrypted with SEED_PASSPHRASE, to SEED_FILE.", {
    examples: ["keys create --show-phrase"],
    json: "{seed_file, xpub, lanes: [address], phrase}. `phrase` only with --show-phrase.",
    notes: `Never overwrites a file. ${XPUB_IS_PRIVATE}`,
  })
    .option("--show-phrase", "print the 24 words of the seed: write them down and store them offline")
    .action(async (options: { json?: boolean; showPhrase?: boolean }) => {
      const settings = parseSettings(terminal.env);
      const phrase = newSeedPhrase();
      await writeSeedFile(settings.seedFile, phrase, requireStrongPassphrase(settings));
      const result = {
        seed_file: settings.seedFile,
        ...publicKeys(phrase, settings.lanes),
        ...(options.showPhrase === true ? { phrase } : {}),
      };
      printResult(terminal, options.json, result, describeKeys("created", result, settings.lanes));
    });
}
