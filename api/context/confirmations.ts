import type { Settings } from "../config/settings.ts";

/** Blocks after which one counts as final, when the settings do not say. */
const CONFIRMATIONS_LOCAL = 1;
const CONFIRMATIONS = 12;

export function confirmationsOf(settings: Pick<Settings, "confirmations">, local: boolean): number {
  return settings.confirmations ?? (local ? CONFIRMATIONS_LOCAL : CONFIRMATIONS);
}
