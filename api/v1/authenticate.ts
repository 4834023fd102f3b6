import type { RequestHandler, Response } from "express";

import { isScope, looksLikeToken, type Scope } from "../commands/api-tokens.ts";
import { type Credential, hashOf, isValid } from "../commands/credential.ts";
import { ApiError, forbidden } from "../domain/error-codes.ts";
import { findConsoleSessionsByHash } from "../store/apps/console-sessions.ts";
import { CallValue } from "./call-value.ts";
import type { HttpDeps } from "./deps.ts";
import type { Endpoint, Exchange } from "./endpoint.ts";
import { identityBySession } from "./console-session.ts";

/** A session of the console. The operator's session is for all apps. */
export interface SessionIdentity {
  id: string;
  kind: "app" | "operator";
}

/** Nobody in particular: what calls of public endpoints have. */
const NOBODY: Identity = { appId: null, credential: null, scopes: [], session: null };

/** Who makes a call: the app behind its token or its session, and what that permits. */
export interface Identity {
  /** Null: the operator's session, without a choice of an app. */
  appId: string | null;
  /** Null: the call is to a public endpoint. */
  credential: Credential | null;
  scopes: readonly Scope[];
  /** Null: the call has a token. */
  session: SessionIdentity | null;
}

const identities = new CallValue<Identity>();

/** Passes calls with a valid token or session, within the rate limit. Both are looked up at each call: a revocation works at once. */
export function authenticate(deps: HttpDeps): RequestHandler {
  return async (request, response, next) => {
    const authorization = request.get("authorization");
    const identity =
      authorization === undefined
        ? await identityBySession(deps, request, response)
        : await identityByToken(deps, authorization, { request, response });
    if (identity === null) {
      await deps.rates.countStranger(request, response);
      throw new ApiError("unauthorized");
    }
    identities.set(response, identity);
    next();
  };
}

async function identityByToken(
  { lookUps, rates }: HttpDeps,
  authorization: string,
  { request, response }: Exchange,
): Promise<Identity | null> {
  const token = tokenOf(authorization);
  if (token === null) return null;
  const hash = hashOf(token);
  await rates.refuseStranger(hash, request, response);
  const [row] = await lookUps.tokens([hash]);
  if (row === undefined || !isValid(row, Date.now())) return null;
  rates.rememberValid(hash);
  await rates.countApp(row.app_id, response, row);
  const credential = { kind: "token", hash: row.hash } as const;
  return { appId: row.app_id, credential, scopes: row.scopes.filter(isScope), session: null };
}

/**
 * For a call that waited after it was authenticated, for the rest of its body or for its turn. It refuses those that write
 * nothing, too. @throws ApiError `unauthorized`
 */
export async function requireStillValid(
  { database, lookUps }: Pick<HttpDeps, "database" | "lookUps">,
  credential: Credential | null,
) {
  if (credential === null) return;
  const { kind, hash } = credential;
  const [row] = await (kind === "token" ? lookUps.tokens([hash]) : findConsoleSessionsByHash(database.read, [hash]));
  if (row === undefined || !isValid(row, Date.now())) throw new ApiError("unauthorized");
}

/** @throws ApiError `forbidden` when the endpoint is not for such callers, or the token or session lacks the scope. */
export function identityFor(
  response: Response,
  { caller = "any", scope }: Pick<Endpoint, "caller" | "scope">,
  deps: HttpDeps,
): Identity {
  const identity = caller === "public" ? NOBODY : identities.get(response);
  if (identity === undefined) throw new ApiError("unauthorized");
  const { session } = identity;
  if (caller === "session" && session === null) throw forbidden(`${NEEDS_SESSION} ${newLink(deps)}`);
  if (caller === "operator" && session?.kind !== "operator") throw forbidden(`${NEEDS_OPERATOR} ${newLink(deps)}`);
  if (scope !== null) requireScope(identity, scope, "this call");
  return identity;
}

/** @param user what needs the scope. @throws ApiError `forbidden` when the token or session lacks the scope. */
export function requireScope(
  { scopes, session }: Pick<Identity, "scopes" | "session">,
  scope: Scope,
  user: string,
): void {
  if (scopes.includes(scope)) return;
  const kind = session === null ? "token" : "session";
  throw forbidden(`The ${kind} lacks the scope \`${scope}\`, which ${user} needs. Use a ${kind} with that scope.`);
}

const NEEDS_SESSION = "This call is for console sessions, not for tokens.";
const NEEDS_OPERATOR = "This call is for the operator's console session.";

/** How somebody without a session, or without the right one, gets a link. */
export function newLink({ localCli }: HttpDeps): string {
  return localCli === null
    ? "Ask the operator of this service for a new link to the console."
    : `\`${localCli} console\` prints a new link.`;
}

/** Reads `Bearer <token>`, or the token alone. */
function tokenOf(header: string): string | null {
  const token = header.trim().replace(/^bearer +/i, "");
  return looksLikeToken(token) ? token : null;
}
