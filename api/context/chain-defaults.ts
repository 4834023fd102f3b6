import type { Settings } from "../config/settings.ts";

/** Depth at which a block counts as final, unless CONFIRMATIONS is set. */
const CONFIRMATIONS_LOCAL = 1;
const CONFIRMATIONS = 12;

export function confirmationsOf(settings: Pick<Settings, "confirmations">, local: boolean): number {
  return settings.confirmations ?? (local ? CONFIRMATIONS_LOCAL : CONFIRMATIONS);
}
