import { createHmac, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";

/** Somebody who has told the shop a name. */
export interface Visitor {
  id: string;
  /** As the visitor typed it. It may be hostile text: escape it where it is shown. */
  name: string;
  /** Address of the wallet. */
  wallet: string;
}

const COOKIE = "shop_visitor";
const LONGEST_NAME = 40;
/** Seconds that a browser keeps the cookie. */
const ONE_YEAR = 31_536_000;

export function newKey(): string {
  return randomBytes(32).toString("base64url");
}

export function newVisitorId(): string {
  return randomUUID();
}

/** The name in a form, or null when it is empty, too long or not plain text. */
export function readName(value: unknown): string | null {
  const name = typeof value === "string" ? value.trim().normalize() : "";
  return name === "" || name.length > LONGEST_NAME || /[\p{Cc}\p{Cs}]/u.test(name) ? null : name;
}

/**
 * The cookie that makes a browser this visitor. It is signed, so nobody can choose another visitor's id.
 * HttpOnly: no script can read it. SameSite=Lax: other sites cannot send forms with it.
 */
export function cookieOf(visitor: Visitor, key: string, secure: boolean): string {
  const payload = Buffer.from(JSON.stringify(visitor)).toString("base64url");
  const attributes = `Path=/; Max-Age=${ONE_YEAR}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  return `${COOKIE}=${payload}.${signatureOf(payload, key).toString("base64url")}; ${attributes}`;
}

/** The visitor of a call, or null when it has no cookie that this shop has signed. */
export function readVisitor(cookies: string | undefined, key: string): Visitor | null {
  for (const cookie of (cookies ?? "").split(";")) {
    const [name, value = ""] = cookie.trim().split("=", 2);
    if (name !== COOKIE) continue;
    const [payload = "", signature = ""] = value.split(".", 2);
    const given = Buffer.from(signature, "base64url");
    const expected = signatureOf(payload, key);
    // The comparison takes the same time whatever differs, so it tells an attacker nothing.
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) continue;
    return JSON.parse(Buffer.from(payload, "base64url").toString()) as Visitor;
  }
  return null;
}

function signatureOf(payload: string, key: string): Buffer {
  return createHmac("sha256", key).update(`visitor.${payload}`).digest();
}
