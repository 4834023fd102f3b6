import type { Command } from "commander";

import { removedSettings } from "../config/removed-settings.ts";
import { overriddenVariables, settingsFileOf } from "../config/settings-file.ts";
import type { Environment } from "../config/settings.ts";
import { openBlocks } from "../content/store/open-blocks.ts";
import { type Check, ok, type Result, warning } from "../checks/check.ts";
import { CHECKS, examine, type Examination } from "../checks/examine.ts";
import { plural } from "../shared/text.ts";
import { withServiceState } from "./database.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";
import { diskCheck, filesCheck, mediaCheck, storeCheck } from "../operate/media-checks.ts";

const LABELS = { ok: "ok     ", warning: "warning", problem: "PROBLEM" } as const;

export function doctor(terminal: Terminal): Command {
  return resultCommand(
    "doctor",
    "Check the chain, keys, lanes, requests, webhooks and media, and say how to fix each problem.",
    {
      examples: ["doctor", "doctor --media --json"],
      json: "{result, findings: [{check, result, words, condition?}]}. A result is ok, warning or problem.",
      notes:
        "Changes nothing. Works while the service runs, and while the chain node is down.\n" +
        "Exit code 1 when there is a problem.",
    },
  )
    .option("--all", "check the number of every request, not only of the newest 10,000")
    .option("--media", "read every hosted block, and list missing or corrupt ones")
    .action(async ({ json, all, media }: { json?: boolean; all?: boolean; media?: boolean }) => {
      const checks = media === true ? mediaCheck : filesCheck;
      const examination = await withServiceState(terminal, async (place) => {
        const { mediaStore, dataDir } = place.settings;
        const blocks = openBlocks(mediaStore, { dataDir, database: place.database });
        return examine({ ...place, thorough: all === true, now: Date.now() }, [
          ...CHECKS,
          diskCheck(dataDir),
          storeCheck(blocks),
          checks(blocks),
          settingsCheck(terminal.env),
        ]);
      });
      printResult(terminal, json, examination, describe(examination));
      if (examination.result === "problem") terminal.fail?.();
    });
}

/** Says where settings come from that two places set, and which are removed. No value is printed: some are secret. */
function settingsCheck(env: Environment): Check {
  const file = settingsFileOf(env);
  const overridden = overriddenVariables(env);
  const finding =
    overridden.length === 0
      ? ok(`the settings are in the environment${file === null ? "" : ` and in ${file}`}`)
      : warning(
          `${overridden.join(", ")}: the environment has another value than ${file ?? ""}, and takes precedence. Unset it in the shell, or ` +
            `correct the file.`,
        );
  return {
    name: "settings",
    asksChain: false,
    run: () => Promise.resolve([finding, ...removedSettings(env).warnings.map((words) => warning(words))]),
  };
}

function describe({ findings }: Examination): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.map(({ check, result: one, words, condition }) => {
    const name = condition === undefined ? "" : ` (${condition})`;
    return `${LABELS[one]}  ${check.padEnd(width)}  ${words}${name}`;
  });
  const count = (wanted: Result) => findings.filter((finding) => finding.result === wanted).length;
  return [...lines, "", `${plural(count("problem"), "problem")}, ${plural(count("warning"), "warning")}`].join("\n");
}
