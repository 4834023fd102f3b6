import { computed } from "@preact/signals";

import { type Client, createClient } from "../../client/client.ts";
import type { UploadOptions } from "../../client/media.ts";
import { type RecordedCall, recorded, uploaded, uploadsIn } from "./recorded-calls.ts";
import { CONSOLE_HEADER, currentApp, isOperator, SERVICE_URL, sessionEnded, signedIn } from "./session.ts";

const UNAUTHORIZED = 401;

/** The bodies of requests, which can be read only before the request is sent. */
const bodies = new WeakMap<Request, string>();
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

/** Stores a file. `<CopyAs>` of a call that names its URI also copies the upload. @returns the URI */
export async function uploadFile(file: File, options?: UploadOptions): Promise<string> {
  const { uri } = await client().uploadMedia(file, options);
  uploaded({ uri, file: file.name });
  return uri;
}

function consoleClient(headers: Record<string, string>): Client {
  const made = createClient({ baseUrl: SERVICE_URL, headers: { ...CONSOLE_HEADER, ...headers } });
  made.use({
    onRequest: async ({ request }) => {
      bodies.set(request, await request.clone().text());
    },
    onResponse: ({ request, response, schemaPath, params }) => {
      const body = bodies.get(request) ?? "";
      const call = {
        method: request.method,
        path: schemaPath,
        pathParams: params.path ?? {},
        query: params.query ?? {},
        ...(body !== "" && { body: JSON.parse(body) as unknown, uploads: uploadsIn(body) }),
      };
      calls.set(response, call);
      if (request.method !== "GET") recorded(call);
      if (response.status === UNAUTHORIZED) sessionEnded();
    },
  });
  return made;
}
