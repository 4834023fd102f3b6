import type { Command } from "commander";

import { parseSettings } from "../../config/settings.ts";
import { readSeedFile } from "../../keys/seed-file.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";
import { describeKeys, laneAddresses, requirePassphrase } from "./lane-addresses.ts";

export function keysCheck(terminal: Terminal): Command {
  return resultCommand("check", "Decrypt SEED_FILE with SEED_PASSPHRASE and print the lane addresses.", {
    examples: ["keys check"],
    json: "{seed_file, lanes: [address]}",
  }).action(async (options: { json?: boolean }) => {
    const settings = parseSettings(terminal.env);
    const phrase = await readSeedFile(settings.seedFile, requirePassphrase(settings));
    const result = { seed_file: settings.seedFile, lanes: laneAddresses(phrase, settings.lanes) };
    printResult(terminal, options.json, result, describeKeys("valid", result));
  });
}
