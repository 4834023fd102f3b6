import { table } from "../../api/cli/terminal.ts";
import { type Figure, median } from "./scenario.ts";

/** A figure of this checkout in each round, and of the other one. */
export interface Row {
  what: string;
  unit: Figure["unit"];
  values: number[];
  other: number[];
  atMost: number | null;
}

/** Adds the figures of a round to the rows. */
export function addFigures(rows: Row[], figures: readonly Figure[], side: "values" | "other"): void {
  for (const { what, unit, value, atMost = null } of figures) {
    let row = rows.find((one) => one.what === what);
    if (row === undefined) rows.push((row = { what, unit, values: [], other: [], atMost }));
    if (value !== null) row[side].push(value);
  }
}

/** @returns this checkout's median divided by that of the other one; null without both, or when that is 0. */
export function ratioOf({ values, other }: Row): number | null {
  const [ours, theirs] = [median(values), median(other)];
  return Number.isNaN(ours) || Number.isNaN(theirs) || theirs === 0 ? null : ours / theirs;
}

/** Whether this checkout exceeds a limit that must hold, in any round. */
export function exceeds({ values, atMost }: Row): boolean {
  return atMost !== null && values.some((value) => value > atMost);
}

/** Ratios come first: the absolute figures depend on the machine. */
export function tableOf(rows: readonly Row[], compared: boolean): string {
  const head = compared ? ["this / other", "this", "other", "what"] : ["measured", "what"];
  const lines = rows.map((row) => {
    const { what, unit, values, other, atMost } = row;
    const label = `${what}${atMost === null ? "" : ` (at most ${atMost.toString()} ${unit})`}`;
    if (!compared) return [shown(values, unit), label];
    return [ratioOf(row)?.toFixed(2) ?? "–", shown(values, unit), shown(other, unit), label];
  });
  return table(head, lines, "");
}

/** The median, and what was least and most when there are several rounds. */
function shown(values: readonly number[], unit: string): string {
  if (values.length === 0) return "–";
  const spread = values.length === 1 ? "" : ` (${number(Math.min(...values))} to ${number(Math.max(...values))})`;
  return `${number(median(values))}${unit.startsWith("/") ? "" : " "}${unit}${spread}`.trimEnd();
}

function number(value: number): string {
  return value.toLocaleString("en", value < 100 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 0 });
}
