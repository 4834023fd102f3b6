import { describeSettings, FIRST_SETTINGS, type SettingDescription } from "../../api/cli/settings.ts";

/** Every setting of the service, as Markdown. */
export function settingsTable(): string {
  return markdown(describeSettings());
}

/** The settings that a first installation needs, as Markdown. */
export function firstSettingsTable(): string {
  const first: readonly string[] = FIRST_SETTINGS;
  return markdown(describeSettings().filter(({ variable }) => first.includes(variable)));
}

function markdown(settings: SettingDescription[]): string {
  const rows = settings.map(
    ({ variable, fallback, description }) => `| \`${variable}\` | ${fallback} | ${description} |`,
  );
  return ["| Variable | Default | Meaning |", "|---|---|---|", ...rows].join("\n");
}
