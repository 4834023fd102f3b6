import { describeSettings } from "../../api/config/settings.ts";

/** Every setting of the service, as Markdown. */
export function settingsTable(): string {
  const rows = describeSettings().map(
    ({ variable, fallback, description }) => `| \`${variable}\` | ${fallback} | ${description} |`,
  );
  return ["| Variable | Default | Meaning |", "|---|---|---|", ...rows].join("\n");
}
