import type { Scope } from "../../../api/commands/api-tokens.ts";
import { createConsoleLink } from "../../../api/commands/console-session.ts";
import { type Answer, PUBLIC_URL, type TestApi } from "./api.ts";

/** What the console's page sends with each call. */
export const PAGE = { "x-moneta-console": "1", origin: PUBLIC_URL };

interface LinkOrder {
  /** Null: the operator's. */
  appId?: string | null;
  scopes?: Scope[];
}

/** The code of a new link. By default it is for the first app. */
export async function codeOfLink(api: TestApi, { appId = api.app.id, scopes }: LinkOrder = {}): Promise<string> {
  const { url } = await createConsoleLink(
    { database: api.database, publicUrl: PUBLIC_URL },
    { appId, scopes: scopes ?? null },
  );
  return new URL(url).hash.replace("#code=", "");
}

export function postCode(api: TestApi, code: string, headers: Record<string, string> = PAGE): Promise<Answer> {
  return api.post("/v1/console/session", { code }, { token: null, headers });
}

export interface TestSession {
  id: string;
  /** `name=value`, as a browser sends it. */
  cookie: string;
  /** The cookie, and what the console's page sends. */
  headers: Record<string, string>;
  call(method: string, path: string, options?: { body?: unknown; headers?: Record<string, string> }): Promise<Answer>;
}

/** Signs in with a new link. */
export async function startSession(api: TestApi, order: LinkOrder = {}): Promise<TestSession> {
  const answer = await postCode(api, await codeOfLink(api, order));
  if (answer.status !== 200) throw new Error(answer.text);
  return sessionOf(api, answer);
}

/** The session that an answer has set the cookie of. */
export function sessionOf(api: TestApi, answer: Answer): TestSession {
  const [set = ""] = answer.headers.getSetCookie();
  const cookie = set.split(";")[0] ?? "";
  const headers = { cookie, ...PAGE };
  return {
    id: (answer.body as { session_id?: string }).session_id ?? "",
    cookie,
    headers,
    call: (method, path, { body, headers: more } = {}) =>
      api.call(method, path, {
        token: null,
        headers: { ...headers, ...more },
        ...(body === undefined ? {} : { body }),
      }),
  };
}
