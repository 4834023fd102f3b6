/* Headers and the cookie of console sessions. */

/** Other sites cannot send this header: a browser would ask first, and the service does not permit it. */
export const CONSOLE_HEADER = "X-Moneta-Console";
/** The operator's session names an app with it. */
export const APP_HEADER = "X-Moneta-App";

/** With TLS, the prefix makes browsers refuse the cookie from other hosts, and over plain HTTP. */
export function cookieName(publicUrl: string): string {
  return isSecure(publicUrl) ? "__Host-moneta_console" : "moneta_console";
}

export function isSecure(publicUrl: string): boolean {
  return new URL(publicUrl).protocol === "https:";
}
