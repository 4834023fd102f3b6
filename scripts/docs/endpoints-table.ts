import { parseSettings } from "../../api/config/settings.ts";
import type { Endpoint } from "../../api/v1/endpoint.ts";
import { endpointsOf } from "../../api/v1/endpoints.ts";

/** Every endpoint under `/v1`, as Markdown. */
export function endpointsTable(): string {
  const rows = endpointsOf(parseSettings({}).limits).map(({ method, path, summary, scope, caller = "any" }) => {
    const cells = [
      `\`${method.toUpperCase()} /v1${path}\``,
      summary,
      scope === null ? "" : `\`${scope}\``,
      CALLERS[caller],
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return ["| Call | What it does | Scope | Who |", "|---|---|---|---|", ...rows].join("\n");
}

const CALLERS: Record<NonNullable<Endpoint["caller"]>, string> = {
  any: "tokens, sessions",
  session: "sessions",
  operator: "operator's session",
  public: "everybody",
};
