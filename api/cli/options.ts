import { InvalidArgumentError } from "commander";

import { isScope, type Scope, SCOPES } from "../commands/api-tokens.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { findApp, listApps } from "../store/apps/apps.ts";
import type { AppRow } from "../store/db/schema.ts";
import type { Db } from "../store/db/sql.ts";
import type { Terminal } from "./terminal.ts";

/** Options of a command that calls the API as an app does. */
export interface ConnectionOptions {
  url?: string;
  token?: string;
}

export const URL_OPTION = [
  "--url <url>",
  "the service (default: the variable MONETA_URL, else http://localhost:3000)",
] as const;
export const TOKEN_OPTION = ["--token <token>", "a token of the app (default: the variable MONETA_TOKEN)"] as const;

/** The service and the token, from the options or from the environment. @throws OperatorError */
export function connectionOf({ env }: Pick<Terminal, "env">, options: ConnectionOptions): Required<ConnectionOptions> {
  const url = options.url ?? (env["MONETA_URL"]?.trim() || "http://localhost:3000");
  const token = options.token ?? env["MONETA_TOKEN"]?.trim() ?? "";
  if (!isHttpUrl(url)) throw new OperatorError("--url, or the variable MONETA_URL, must be an http or https URL.");
  if (token === "") throw new OperatorError("Give a token of the app: set MONETA_TOKEN, or use --token.");
  return { url, token };
}

export function isHttpUrl(text: string): boolean {
  const protocol = URL.parse(text)?.protocol;
  return protocol === "http:" || protocol === "https:";
}

/** Parses an option that is a number of blocks, bytes or seconds. */
export function readWhole(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("Give a whole number.");
  return Number(text);
}

const MINUTE = 60_000;
const UNITS: Readonly<Record<string, number>> = { m: MINUTE, h: 60 * MINUTE, d: 24 * 60 * MINUTE };

/** @param text such as `90d`, `12h` or `30m`. @returns milliseconds, or null when it is not a duration. */
function parseDuration(text: string): number | null {
  const [, amount, unit = ""] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  return amount === undefined ? null : Number(amount) * (UNITS[unit] ?? 0);
}

/** Parses an option that is a duration. @returns milliseconds. */
export function readDuration(text: string): number {
  const duration = parseDuration(text);
  if (duration === null) throw new InvalidArgumentError("Give a duration such as 90d, 12h or 30m.");
  return duration;
}

/** Parses an option that is a duration, or a plain number of minutes. @returns milliseconds. */
export function readMinutes(text: string): number {
  return /^\d{1,9}$/.test(text) ? Number(text) * MINUTE : readDuration(text);
}

/** Parses an option that is a point in time: a duration from now, or a date. @returns milliseconds since 1970. */
export function readEnd(text: string): number {
  const duration = parseDuration(text);
  const at = duration === null ? Date.parse(text) : Date.now() + duration;
  if (Number.isNaN(at)) {
    throw new InvalidArgumentError("Give a duration such as 90d, 12h or 30m, or a date such as 2030-01-31.");
  }
  if (at <= Date.now()) throw new InvalidArgumentError("This time is in the past.");
  return at;
}

/** @param which the app's name or id. @throws OperatorError */
export async function appNamed(db: Db, which: string): Promise<AppRow> {
  const app = await findApp(db, which);
  if (app === undefined)
    throw new OperatorError(`There is no app with the name or id ${which}. \`app list\` shows all.`);
  return app;
}

/** The app that is named, or all apps. @throws OperatorError */
export async function appsNamed(db: Db, which: string | undefined): Promise<Pick<AppRow, "id" | "name">[]> {
  return which === undefined ? listApps(db) : [await appNamed(db, which)];
}

/** Reads scopes, separated by commas. */
export function readScopes(text: string): Scope[] {
  const names = [...new Set(text.split(",").map((name) => name.trim()))];
  const scopes = names.filter(isScope);
  if (scopes.length !== names.length) throw new InvalidArgumentError(`Valid scopes are ${SCOPES.join(", ")}.`);
  return scopes;
}

/** Parses an option that is a count, such as `--limit`. */
export function readLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000)
    throw new InvalidArgumentError("Give a number from 1 to 10000.");
  return limit;
}
