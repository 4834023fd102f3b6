import { describeSettings, FIRST_SETTINGS, type SettingDescription } from "../../api/cli/settings.ts";
import { REMOVED_SETTINGS } from "../../api/config/removed-settings.ts";
import { type ErrorCode, ERRORS } from "../../api/domain/error-codes.ts";
import { WARNING_CODES, WARNINGS } from "../../client/rules/warnings.ts";
import { METRICS } from "../../api/metrics/catalog.ts";
import type { Endpoint } from "../../api/v1/endpoint.ts";
import { ENDPOINTS } from "../../api/v1/endpoints.ts";
import { SIZE_LIMITS } from "../client/size.ts";
import { markdownTable } from "./markdown.ts";
import { networksTable } from "./networks-table.ts";

const CALLERS: Record<NonNullable<Endpoint["caller"]>, string> = {
  any: "tokens, sessions",
  session: "sessions",
  operator: "operator's session",
  public: "everybody",
};

/** Every endpoint under `/v1`. */
function endpointsTable(): string {
  const rows = ENDPOINTS.map(({ method, path, summary, scope, caller = "any" }) => [
    `\`${method.toUpperCase()} /v1${path}\``,
    summary,
    scope === null ? "" : `\`${scope}\``,
    CALLERS[caller],
  ]);
  return markdownTable(["Call", "What it does", "Scope", "Who"], rows);
}

/** Every error code, with a heading, and so an anchor, for each code. */
function errorsList(): string {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return codes.map((code) => `## ${code}\n\n_${whereOf(code)}._ ${ERRORS[code].message}`).join("\n\n");
}

function whereOf(code: ErrorCode): string {
  const { status, failsRequest } = ERRORS[code];
  if (status === undefined) return "A failed request";
  return `HTTP ${status.toString()}${failsRequest === true ? ", or a failed request" : ""}`;
}

/** Every code of a warning. */
function warningsTable(): string {
  return markdownTable(
    ["Code", "What it says"],
    WARNING_CODES.map((code) => [`\`${code}\``, WARNINGS[code]]),
  );
}

/** Every metric of the service. */
function metricsTable(): string {
  const all: readonly { name: string; kind: string; help: string; labels?: readonly string[] }[] =
    Object.values(METRICS);
  const rows = all.map(({ name, kind, help, labels = [] }) => {
    const names = labels.map((label) => `\`${label}\``).join(", ");
    return [`\`${name}\``, kind, names, help];
  });
  return markdownTable(["Metric", "Kind", "Labels", "Meaning"], rows);
}

/** The settings that a first installation needs. */
function firstSettingsTable(): string {
  const first: readonly string[] = FIRST_SETTINGS;
  return settingsTable(describeSettings().filter(({ variable }) => first.includes(variable)));
}

/** Every setting, in its group. */
function settingsTables(): string {
  const groups = Map.groupBy(describeSettings(), ({ group }) => group);
  return [...groups].map(([group, settings]) => `## ${group}\n\n${settingsTable(settings)}`).join("\n\n");
}

function settingsTable(settings: SettingDescription[]): string {
  const rows = settings.map(({ variable, fallback, description }) => [`\`${variable}\``, fallback, description]);
  return markdownTable(["Variable", "Default", "Meaning"], rows);
}

/** The settings of earlier versions. */
function removedTable(): string {
  return markdownTable(
    ["Setting", "What holds now", "The start is refused with"],
    REMOVED_SETTINGS.map(({ variable, now, refused }) => [`\`${variable}\``, now, refused?.values ?? ""]),
  );
}

/** The most bytes of the client. */
function sizesTable(): string {
  const rows = [
    ["The package, as npm downloads it", SIZE_LIMITS.packed],
    ["What a browser loads: all of the client with its dependencies, minified, gzip", SIZE_LIMITS.browser],
  ] as const;
  return markdownTable(
    ["What", "At most"],
    rows.map(([what, bytes]) => [what, `${(bytes / 1_000).toString()} kB`]),
  );
}

const TABLES: { file: string; marker: string; table: () => string }[] = [
  { file: "docs/api.md", marker: "endpoints", table: endpointsTable },
  { file: "README.md", marker: "settings", table: firstSettingsTable },
  { file: "docs/errors.md", marker: "errors", table: errorsList },
  { file: "docs/errors.md", marker: "warnings", table: warningsTable },
  { file: "docs/operations.md", marker: "metrics", table: metricsTable },
  { file: "docs/install.md", marker: "networks", table: networksTable },
  { file: "client/README.md", marker: "sizes", table: sizesTable },
  { file: "docs/settings.md", marker: "removed", table: removedTable },
  { file: "docs/settings.md", marker: "settings", table: settingsTables },
];

function replace(text: string, { file, marker, table }: (typeof TABLES)[number]): string {
  const start = `<!-- ${marker}: start, written by scripts/docs/main.ts -->\n`;
  const end = `<!-- ${marker}: end -->`;
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`${file} lacks the markers of the table "${marker}".`);
  return `${text.slice(0, from + start.length)}\n${table()}\n\n${text.slice(to)}`;
}

/** The files that have generated tables, relative to the root of the project. */
export function documentsWithTables(): string[] {
  return [...new Set(TABLES.map(({ file }) => file))];
}

/** @returns the text of one of these files with the tables that the code generates. */
export function withTables(file: string, text: string): string {
  return TABLES.filter((table) => table.file === file).reduce(replace, text);
}
