import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { parseSettings } from "../../api/config/settings.ts";
import { apiDocument } from "../../api/v1/openapi/document.ts";

/** Lints the OpenAPI document that the service publishes. */

const folder = mkdtempSync(join(tmpdir(), "moneta-document-"));
try {
  const file = join(folder, "openapi.json");
  writeFileSync(file, JSON.stringify(apiDocument(parseSettings({})), null, 2));
  const linter = "node_modules/@redocly/cli/bin/cli.js";
  const args = [
    linter,
    "lint",
    file,
    "--config",
    "scripts/lint/redocly.yaml",
    "--format",
    "stylish",
    "--max-problems",
    "50",
  ];
  // By default Redocly sends usage data and checks for updates.
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
  console.log(stdout, stderr);
  // Redocly exits with 0 when there are only warnings.
  process.exitCode = status === 0 && !/\bwarning\b/i.test(stdout + stderr) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
