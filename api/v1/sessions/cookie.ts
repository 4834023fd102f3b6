import type { CookieOptions, Request, Response } from "express";

import { looksLikeSecret } from "../../commands/console-session.ts";
import { cookieName, isSecure } from "./headers.ts";

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
