import { parseSettings } from "../../api/config/settings.ts";
import { endpointsOf } from "../../api/v1/endpoints.ts";

/** Every endpoint under `/v1`, as Markdown. */
export function endpointsTable(): string {
  const rows = endpointsOf(parseSettings({}).limits).map(
    ({ method, path, summary, scope }) => `| \`${method.toUpperCase()} /v1${path}\` | ${summary} | \`${scope}\` |`,
  );
  return ["| Call | What it does | Scope |", "|---|---|---|", ...rows].join("\n");
}
