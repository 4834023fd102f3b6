import type { Command } from "commander";

import { XPUB_IS_PRIVATE } from "../../config/extended-public-key.ts";
import { parseSettings } from "../../config/settings.ts";
import { readSeedFile, weakPassphrase, weaknessOf } from "../../keys/seed-file.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";
import { describeKeys, publicKeys, requirePassphrase } from "./describe-keys.ts";

export function keysCheck(terminal: Terminal): Command {
  return resultCommand("check", "Decrypt SEED_FILE with SEED_PASSPHRASE and print the lane addresses and XPUB.", {
    examples: ["keys check"],
    json: "{seed_file, xpub, lanes: [address]}",
    notes: XPUB_IS_PRIVATE,
  }).action(async (options: { json?: boolean }) => {
    const settings = parseSettings(terminal.env);
    const passphrase = requirePassphrase(settings);
    const phrase = await readSeedFile(settings.seedFile, passphrase);
    const weakness = weaknessOf(passphrase);
    if (weakness !== null) terminal.remark?.(`${weakPassphrase(weakness)}\n`);
    const result = { seed_file: settings.seedFile, ...publicKeys(phrase, settings.lanes) };
    printResult(terminal, options.json, result, describeKeys("valid", result, settings.lanes));
  });
}
