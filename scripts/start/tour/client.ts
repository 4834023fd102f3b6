import { randomUUID } from "node:crypto";

import { type Client, createClient } from "../../../api/client/client.ts";

/** The typed client, with the token of one app. */
export function tourClient(baseUrl: string, token: string, signal: AbortSignal): Client {
  return createClient({
    baseUrl,
    token,
    signal,
    fetch: (request) => {
      // With a key, the call can be repeated safely when the connection breaks.
      if (request.method === "POST") request.headers.set("Idempotency-Key", randomUUID());
      return fetch(request);
    },
  });
}
