import { randomUUID } from "node:crypto";

import { type Client, createClient } from "../../../api/client/client.ts";

/** The typed client, with one app's token. */
export function tourClient(baseUrl: string, token: string, signal: AbortSignal): Client {
  return createClient({
    baseUrl,
    token,
    signal,
    fetch: (request) => {
      // Should the connection break, the same call with the same key is safe to repeat.
      if (request.method === "POST") request.headers.set("Idempotency-Key", randomUUID());
      return fetch(request);
    },
  });
}
