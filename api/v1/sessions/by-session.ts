import type { Request, Response } from "express";

import { isScope } from "../../commands/access-token.ts";
import { hashOfSecret, isLive } from "../../commands/console-session.ts";
import { ApiError } from "../../domain/error-codes.ts";
import { type StoredConsoleSession, touchConsoleSession } from "../../store/apps/console-sessions.ts";
import type { Identity } from "../authenticate.ts";
import type { HttpDeps } from "../deps.ts";
import { sessionSecretOf } from "./cookie.ts";
import { APP_HEADER } from "./headers.ts";
import { requireOwnPage } from "./own-page.ts";

/** The time of the last use is written once in so many milliseconds, so that calls that read do not write. */
const TOUCH_EVERY = 300_000;

type Deps = Pick<HttpDeps, "database" | "logger" | "lookUps" | "rates" | "settings">;

/**
 * Who makes a call with the cookie of a session. The session is looked up at each call: a revocation works at once.
 * @returns null when the call has no cookie, or its session is unknown, revoked or expired.
 * @throws ApiError `forbidden`, `rate_limited`, `validation_failed`
 */
export async function identityBySession(deps: Deps, request: Request, response: Response): Promise<Identity | null> {
  const { publicUrl } = deps.settings;
  const secret = sessionSecretOf(request, publicUrl);
  if (secret === null) return null;
  await requireOwnPageOrCount(deps, request, response);
  const hash = hashOfSecret(secret);
  await deps.rates.refuseStranger(hash, request, response);
  const session = await deps.lookUps.session(hash);
  const now = Date.now();
  if (session === undefined || session.hash === null || !isLive(session, now)) return null;
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
async function requireOwnPageOrCount({ rates, settings }: Deps, request: Request, response: Response): Promise<void> {
  try {
    requireOwnPage(request, settings.publicUrl);
  } catch (error) {
    await rates.countStranger(request, response);
    throw error;
  }
}

async function appOf(
  { lookUps }: Deps,
  session: StoredConsoleSession,
  chosen: string | undefined,
): Promise<string | null> {
  if (session.app_id !== null) {
    if (chosen === undefined || chosen === session.app_id) return session.app_id;
    const message = `The session is for one app only. Remove the header \`${APP_HEADER}\`, or sign in as the operator.`;
    throw new ApiError("forbidden", null, { message });
  }
  if (chosen === undefined) return null;
  if ((await lookUps.app(chosen)) !== undefined) return chosen;
  const message = "No app has this id. `GET /v1/operator/apps` lists the apps.";
  throw new ApiError("validation_failed", [{ field: APP_HEADER, code: "unknown", message }]);
}

/** A call does not fail because this time cannot be written. */
async function touch({ database, logger }: Deps, id: string, now: number): Promise<void> {
  try {
    await database.write((trx) => touchConsoleSession(trx, id, now, now - TOUCH_EVERY));
  } catch (error) {
    logger.warn({ err: error, session: id }, "the last use of a console session was not stored");
  }
}
