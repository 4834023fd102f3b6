import { readAppQuotas } from "./app-quotas.ts";
import { readRetention } from "./variables.ts";
import { defaultDatabase, type Environment, Reader, type Settings } from "./settings.ts";

/* Parts of the settings, for commands that need no others. Those others may be invalid. */

/** The part that links to the console need. @throws SettingsError */
export function parseLinkSettings(env: Environment): Pick<Settings, "publicUrl"> {
  const reader = new Reader(env);
  const settings = { publicUrl: reader.publicUrl(reader.read("PORT")) };
  reader.check();
  return settings;
}

/** The part that a new app needs. @throws SettingsError */
export function parseAppQuotas(env: Environment): Pick<Settings, "appQuotas"> {
  const reader = new Reader(env);
  const settings = { appQuotas: readAppQuotas((variable) => reader.read(variable)) };
  reader.check();
  return settings;
}

/** The part that `prune` needs. @throws SettingsError */
export function parsePruneSettings(env: Environment): Pick<Settings, "databaseUrl" | "retain"> {
  const reader = new Reader(env);
  const databaseUrl = reader.read("DATABASE_URL", defaultDatabase(reader.read("DATA_DIR")));
  const retain = readRetention((variable) => reader.read(variable));
  reader.check();
  return { databaseUrl, retain };
}
