import { parseSettings, SettingsError } from "../../../../api/config/settings.ts";

/** What is wrong with these settings. */
export function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    parseSettings(env);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}
