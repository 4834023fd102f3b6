import { REMOVED_SETTINGS, type RemovedSetting } from "../../api/config/removed-settings.ts";

/** Values that settings of earlier versions could have. */
const VALUES = ["999999999", "1", "0", "true", "false", "off", "forever"];

/** For each removed setting, a value that is only a warning. */
export const HARMLESS = valuesOf((setting, value) => setting.refused?.is(value, {}) !== true);
/** For each that can refuse the start, a value that does. */
export const REFUSED = valuesOf((setting, value) => setting.refused?.is(value, {}) === true);

function valuesOf(holds: (setting: RemovedSetting, value: string) => boolean): Record<string, string> {
  const found = REMOVED_SETTINGS.map((setting) => [setting.variable, VALUES.find((value) => holds(setting, value))]);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined)) as Record<string, string>;
}
