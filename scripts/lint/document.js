import { formatProblems, getTotals, lintFromString, loadConfig } from "@redocly/openapi-core";
import { parseSettings } from "../../api/config/settings.ts";
import { apiDocument } from "../../api/v1/openapi/document.ts";
/** Lints the OpenAPI document that the service publishes. Warnings fail too. */
const MAX_PROBLEMS = 50;
const config = await loadConfig({ configPath: "scripts/lint/redocly.yaml" });
const source = JSON.stringify(apiDocument(parseSettings({})), null, 2);
const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
if (problems.length > 0) {
    formatProblems(problems, {
        format: "stylish",
        maxProblems: MAX_PROBLEMS,
        totals: getTotals(problems),
        version: "",
    });
    process.exitCode = 1;
}
