import { sizesTable } from "../client/size.ts";
import { endpointsTable } from "./endpoints-table.ts";
import { errorsList } from "./errors-list.ts";
import { metricsTable } from "./metrics-table.ts";
import { networksTable } from "./networks-table.ts";
import { firstSettingsTable, settingsTable } from "./settings-table.ts";

const TABLES: { file: string; marker: string; table: () => string }[] = [
  { file: "docs/api.md", marker: "endpoints", table: endpointsTable },
  { file: "README.md", marker: "settings", table: firstSettingsTable },
  { file: "docs/errors.md", marker: "errors", table: errorsList },
  { file: "docs/operations.md", marker: "metrics", table: metricsTable },
  { file: "docs/install.md", marker: "networks", table: networksTable },
  { file: "client/README.md", marker: "sizes", table: sizesTable },
  { file: "docs/settings.md", marker: "settings", table: settingsTable },
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
