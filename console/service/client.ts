import { computed } from "@preact/signals";

import { type Client, createClient } from "../../client/client.ts";
import { type RecordedCall, recorded } from "./recorded-calls.ts";
import { CONSOLE_HEADER, currentApp, isOperator, SERVICE_URL, sessionEnded, signedIn } from "./session.ts";

const UNAUTHORIZED = 401;

/** The call that a response belongs to. */
const calls = new WeakMap<Response, RecordedCall>();

/** A new one for each session and each chosen app, so that no answer of another app appears. */
const current = computed<Client>(() => {
  const app = isOperator() ? currentApp() : null;
  // A session that replaces another one also gets a client of its own.
  if (signedIn.value.state !== "signed-in") throw new Error("Nobody is signed in.");
  return consoleClient(app === null ? {} : { "X-Moneta-App": app.app_id });
});

/** The typed client with the session of this page. `answerOf(client().GET(...))` returns the answer or throws. */
export function client(): Client {
  return current.value;
}

/** What `<CopyAs call={...} />` shows: the call of an answer `{ data, response }` of the client. */
export function callOf(response: Response): RecordedCall | null {
  return calls.get(response) ?? null;
}

function consoleClient(headers: Record<string, string>): Client {
  const made = createClient({ baseUrl: SERVICE_URL, headers: { ...CONSOLE_HEADER, ...headers } });
  made.use({
    onResponse: ({ request, response, schemaPath, params, options }) => {
      const call = {
        method: request.method,
        path: schemaPath,
        pathParams: params.path ?? {},
        query: params.query ?? {},
        ...("body" in options && { body: options.body }),
      };
      calls.set(response, call);
      if (request.method !== "GET") recorded(call);
      if (response.status === UNAUTHORIZED) sessionEnded();
    },
  });
  return made;
}
