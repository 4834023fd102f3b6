import type { CookieOptions, Request, Response } from "express";

import { isScope } from "../commands/api-tokens.ts";
import { hashOf, isValid, looksLikeSecret } from "../commands/credential.ts";
import { ApiError, forbidden } from "../domain/error-codes.ts";
import { findAppsById } from "../store/apps/apps.ts";
import {
  findConsoleSessionsByHash,
  type StoredConsoleSession,
  touchConsoleSession,
} from "../store/apps/console-sessions.ts";
import type { Identity } from "./authenticate.ts";
import type { HttpDeps } from "./deps.ts";

/** The time of the last use is written at most once in this many milliseconds, so that calls that read do not write. */
const TOUCH_EVERY = 300_000;

/**
 * Who makes a call with the cookie of a session. The session is looked up at each call: a revocation works at once.
 * @returns null when the call has no cookie, or its session is unknown, revoked or expired.
 * @throws ApiError `forbidden`, `rate_limited`, `validation_failed`
 */
export async function identityBySession(
  deps: HttpDeps,
  request: Request,
  response: Response,
): Promise<Identity | null> {
  const { publicUrl } = deps.settings;
  const secret = sessionSecretOf(request, publicUrl);
  if (secret === null) return null;
  await requireOwnPageOrCount(deps, request, response);
  const hash = hashOf(secret);
  await deps.rates.refuseStranger(hash, request, response);
  const [session] = await findConsoleSessionsByHash(deps.database.read, [hash]);
  const now = Date.now();
  if (session === undefined || session.hash === null || !isValid(session, now)) return null;
  deps.rates.rememberValid(hash);
  await deps.rates.countSession(session, response);
  if ((session.used_at ?? 0) < now - TOUCH_EVERY) await touch(deps, session.id, now);
  return {
    appId: await appOf(deps, session, request.get(APP_HEADER)),
    credential: { kind: "session", hash: session.hash },
    scopes: session.scopes.filter(isScope),
    session: { id: session.id, kind: session.app_id === null ? "operator" : "app" },
  };
}

/** A page of another site uses up the limit of its visitor's address, not that of the session. */
async function requireOwnPageOrCount(
  { rates, settings }: HttpDeps,
  request: Request,
  response: Response,
): Promise<void> {
  try {
    requireOwnPage(request, settings.publicUrl);
  } catch (error) {
    await rates.countStranger(request, response);
    throw error;
  }
}

async function appOf(
  { database }: HttpDeps,
  session: StoredConsoleSession,
  chosen: string | undefined,
): Promise<string | null> {
  if (session.app_id !== null) {
    if (chosen === undefined || chosen === session.app_id) return session.app_id;
    const message = `The session is for one app only. Remove the header \`${APP_HEADER}\`, or sign in as the operator.`;
    throw forbidden(message);
  }
  if (chosen === undefined) return null;
  const [app] = await findAppsById(database.read, [chosen]);
  if (app !== undefined) return chosen;
  const message = "No app has this id. `GET /v1/operator/apps` lists the apps.";
  throw new ApiError("validation_failed", [{ field: APP_HEADER, code: "unknown", message }]);
}

/** A call does not fail because this time cannot be written. */
async function touch({ database, logger }: HttpDeps, id: string, now: number): Promise<void> {
  try {
    await database.write((trx) => touchConsoleSession(trx, id, now, now - TOUCH_EVERY));
  } catch (error) {
    logger.warn({ err: error, session: id }, "the last use of a console session was not stored");
  }
}

/** The secret of the session in the call's cookie; null when it has none. */
export function sessionSecretOf(request: Request, publicUrl: string): string | null {
  const prefix = `${cookieName(publicUrl)}=`;
  const pairs = (request.get("cookie") ?? "").split(";").map((pair) => pair.trim());
  const values = pairs.filter((pair) => pair.startsWith(prefix)).map((pair) => pair.slice(prefix.length));
  // Two cookies of this name come from different paths or domains: one of them was planted.
  const [value] = values;
  return values.length === 1 && value !== undefined && looksLikeSecret(value) ? value : null;
}

export function setSessionCookie(response: Response, publicUrl: string, secret: string, expiresAt: number): void {
  response.cookie(cookieName(publicUrl), secret, { ...options(publicUrl), expires: new Date(expiresAt) });
}

export function clearSessionCookie(response: Response, publicUrl: string): void {
  response.clearCookie(cookieName(publicUrl), options(publicUrl));
}

/** No `Domain`: only this host gets the cookie. */
function options(publicUrl: string): CookieOptions {
  return { httpOnly: true, sameSite: "strict", secure: isSecure(publicUrl), path: "/" };
}

/** Methods that change nothing. */
const READS = new Set(["GET", "HEAD"]);
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;

/**
 * Refuses calls that a page of another site may have caused: a browser sends the cookie with them. Another site cannot send
 * the header, and cannot choose `Origin`.
 * @throws ApiError `forbidden`
 */
export function requireOwnPage(request: Request, publicUrl: string): void {
  if (request.get(CONSOLE_HEADER) !== "1") {
    throw forbidden(`Calls with the cookie of a console session need the header \`${CONSOLE_HEADER}: 1\`. Add it.`);
  }
  const origin = request.get("origin");
  if (origin === undefined) {
    if (READS.has(request.method)) return;
    throw forbidden("Calls that change something with the cookie of a console session need the header `Origin`.");
  }
  if (isOwn(origin, request.get("host"), publicUrl)) return;
  throw forbidden(
    `The page that made this call is not of this service. Open the console at ${publicUrl}/console, or correct PUBLIC_URL.`,
  );
}

/**
 * Behind a proxy only PUBLIC_URL says what the browser calls the service. A local service may also be opened as `127.0.0.1`
 * instead of `localhost`: the page then has the host of the call. Other hosts do not count, because anybody can let a name
 * point to this machine.
 */
function isOwn(origin: string, host: string | undefined, publicUrl: string): boolean {
  if (origin === new URL(publicUrl).origin) return true;
  return host !== undefined && LOOPBACK.test(host) && origin === `http://${host.toLowerCase()}`;
}

/* Headers and the cookie of console sessions. */

/** Other sites cannot send this header: a browser would ask first, and the service does not permit it. */
export const CONSOLE_HEADER = "X-Moneta-Console";
/** The operator's session names an app with it. */
export const APP_HEADER = "X-Moneta-App";

/** With TLS, the prefix makes browsers refuse the cookie from other hosts, and over plain HTTP. */
export function cookieName(publicUrl: string): string {
  return isSecure(publicUrl) ? "__Host-moneta_console" : "moneta_console";
}

function isSecure(publicUrl: string): boolean {
  return new URL(publicUrl).protocol === "https:";
}
