import type { oas31 } from "zod-openapi";

import type { Endpoint } from "../endpoint.ts";
import { APP_HEADER, CONSOLE_HEADER, cookieName } from "../console-session.ts";

const IN_SESSIONS =
  `The cookie of a console session, which \`POST /v1/console/session\` sets. Each call also needs the header ` +
  `\`${CONSOLE_HEADER}: 1\`; a call that writes needs an \`Origin\` of the service itself. A call with ` +
  "`Authorization` ignores the cookie.";

type Scheme = "token" | "session" | "operatorSession";

/** Ways to authenticate. */
export function securitySchemes(publicUrl: string): Record<Scheme, oas31.SecuritySchemeObject> {
  const cookie = { type: "apiKey", in: "cookie", name: cookieName(publicUrl) } as const;
  return {
    token: {
      type: "http",
      scheme: "bearer",
      description: "A token of the app, created with the command line. The token alone, without `Bearer`, works too.",
    },
    session: {
      ...cookie,
      description: `${IN_SESSIONS} The operator's session chooses an app with \`${APP_HEADER}: <app_id>\`.`,
    },
    operatorSession: { ...cookie, description: `${IN_SESSIONS} Only the operator's session may make these calls.` },
  };
}

/** Who may call an endpoint, and the scope that it needs. */
export function securityOf({
  scope,
  caller = "any",
}: Pick<Endpoint, "scope" | "caller">): Partial<Record<Scheme, string[]>>[] {
  const scopes = scope === null ? [] : [scope];
  switch (caller) {
    case "any":
      return [{ token: scopes }, { session: scopes }];
    case "session":
      return [{ session: scopes }];
    case "public":
      return [];
    case "operator":
      return [{ operatorSession: scopes }];
  }
}
