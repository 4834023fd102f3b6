import { join } from "node:path";

import type { Command } from "commander";

import { parseSettings } from "../../config/settings.ts";
import { withWorkplace } from "../../context/workplace.ts";
import { count, type Result } from "../../doctor/check.ts";
import { CHECKS, examine, type Examination } from "../../doctor/examine.ts";
import { BlockFiles } from "../../ipfs/block-files.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";
import { filesCheck, mediaCheck } from "./media.ts";

const SIGNS = { ok: "ok     ", warning: "warning", problem: "PROBLEM" } as const;

export function doctor(terminal: Terminal): Command {
  return resultCommand(
    "doctor",
    "Check the chain, keys, lanes, requests, webhooks and media, and say what to do about each problem.",
  )
    .option("--all", "check the numbers of all requests, not only of the newest 10,000")
    .option("--media", "read every hosted block, and name missing and corrupt ones")
    .addHelpText(
      "after",
      "\nChanges nothing. Works while the service runs, and while the node does not answer. Exits with 1 if there is a problem.\n" +
        "JSON: {result, findings: [{check, result, words}]}, where result is ok, warning or problem",
    )
    .action(async ({ json, all, media }: { json?: boolean; all?: boolean; media?: boolean }) => {
      const examination = await withWorkplace(parseSettings(terminal.env), (place) => {
        const blocks = new BlockFiles(join(place.settings.dataDir, "blocks"));
        return examine(
          {
            ...place,
            lanes: place.settings.lanes,
            pinRpc: place.settings.ipfsPinRpc,
            thorough: all === true,
            now: Date.now(),
          },
          [...CHECKS, media === true ? mediaCheck(blocks) : filesCheck(blocks)],
        );
      });
      printResult(terminal, json, examination, describe(examination));
      if (examination.result === "problem") terminal.fail?.();
    });
}

function describe({ findings }: Examination): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.map(({ check, result: one, words }) => `${SIGNS[one]}  ${check.padEnd(width)}  ${words}`);
  const total = (wanted: Exclude<Result, "ok">) =>
    count(findings.filter((finding) => finding.result === wanted).length, wanted);
  return [...lines, "", `${total("problem")}, ${total("warning")}`].join("\n");
}
