import fc from "fast-check";

/* Headers of calls. */

export const contentType = fc.oneof(
  { weight: 20, arbitrary: fc.constant<string | null>("application/json") },
  {
    weight: 1,
    arbitrary: fc.constantFrom<(string | null)[]>(
      null,
      "application/json; charset=utf-8",
      "APPLICATION/JSON;CHARSET=UTF-8",
      "application/json; charset=utf-16",
      'application/json; charset="',
      "application/json;;;=",
      "application/problem+json",
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "/",
      "*/*",
      "x".repeat(3_000),
    ),
  },
);

/** Bytes that a header can contain. */
export const headerText = fc
  .array(fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0xa0, max: 0xff })), { maxLength: 300 })
  .map((codes) => String.fromCharCode(...codes).trim());

export const accepted = fc.constantFrom(
  "text/event-stream",
  "text/event-stream, */*;q=0.1",
  "text/event-stream;q=0",
  "text/csv",
  "application/x-ndjson",
  "TEXT/EVENT-STREAM; charset=utf-8",
  "text/*",
  ",;q=",
);

/** Cursors of the events feed. */
export const eventPlace = fc
  .oneof(fc.nat({ max: 50 }).map(String), fc.constantFrom("999999999999999", "9".repeat(16), "-1", "1e3", ""))
  .map((place) => Buffer.from(`events.${place}`).toString("base64url"));

export const idempotencyKey = fc.oneof(
  // Few keys, so that they repeat with other bodies.
  fc.constantFrom("key-1", "key-2", "key-3"),
  fc.uuid(),
  headerText,
);

/** The cookie of a session, and what the console's page sends. Mostly right. */
function consoleHeaders({ sessions, apps }: Callers): fc.Arbitrary<Record<string, string>> {
  const wrong = fc.constantFrom<Record<string, string>>(
    {},
    { origin: "https://evil.example" },
    { origin: "null" },
    { "x-moneta-console": "0" },
    { cookie: "moneta_console=" },
    { cookie: `moneta_console=${"x".repeat(43)}` },
    { cookie: ";;=;" },
  );
  const app = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...apps).map((id) => ({ "x-moneta-app": id })) },
    { weight: 1, arbitrary: headerText.map((text) => ({ "x-moneta-app": text })) },
    { weight: 3, arbitrary: fc.constant({}) },
  );
  const right = fc.constantFrom(...sessions);
  return fc.oneof(
    { weight: 6, arbitrary: fc.tuple(right, app).map(([session, chosen]) => ({ ...session, ...chosen })) },
    { weight: 1, arbitrary: fc.tuple(right, wrong).map(([session, broken]) => ({ ...session, ...broken })) },
  );
}

/** Who calls. */
export interface Callers {
  /** The first token has every scope and is used most, the others have fewer scopes. */
  tokens: string[];
  /** The right headers of each console session. */
  sessions: Record<string, string>[];
  /** Ids of apps, which the operator's session may choose. */
  apps: string[];
}

/** A token, or sometimes the cookie of a session. @param session whether the operation is only for sessions. */
export function callerHeaders(callers: Callers, session: boolean): fc.Arbitrary<Record<string, string>> {
  const byToken = authorization(callers.tokens).map((value): Record<string, string> =>
    value === null ? {} : { authorization: value },
  );
  return fc.oneof(
    { weight: session ? 1 : 8, arbitrary: byToken },
    { weight: session ? 8 : 1, arbitrary: consoleHeaders(callers) },
  );
}

function authorization(tokens: string[]): fc.Arbitrary<string | null> {
  const [main = "", ...others] = tokens;
  return fc.oneof(
    { weight: 30, arbitrary: fc.constant(`Bearer ${main}`) },
    { weight: 1, arbitrary: fc.constantFrom(...others.map((token) => `Bearer ${token}`), main) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", "Bearer", "Bearer  ", "Basic YTpi", `Bearer ${main}x`, `bearer ${main} ${main}`),
    },
    { weight: 1, arbitrary: headerText },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}
