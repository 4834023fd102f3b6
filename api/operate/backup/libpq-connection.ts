import type { Environment } from "../../config/settings.ts";

/** Parameters of a URL that PostgreSQL's own programs know too. */
const SHARED = [
  "host",
  "port",
  "user",
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "connect_timeout",
  "options",
  "target_session_attrs",
];

/**
 * A DATABASE_URL for `pg_dump` and `pg_restore`. The password goes through the environment, because every user of the
 * machine can see the arguments of a process.
 */
export function libpqConnection(url: string): { uri: string; env: Environment } {
  const parsed = new URL(url);
  const password = decodeURIComponent(parsed.password) || parsed.searchParams.get("password");
  const query = new URLSearchParams();
  for (const name of SHARED) {
    const value = parsed.searchParams.get(name);
    // Node's `pg` knows a mode without a check of the certificate, which is this mode elsewhere.
    if (value !== null) query.set(name, name === "sslmode" && value === "no-verify" ? "require" : value);
  }
  parsed.password = "";
  // These programs read a plus sign as itself.
  parsed.search = query.toString().replaceAll("+", "%20");
  return { uri: parsed.toString(), env: password === null ? {} : { PGPASSWORD: password } };
}
