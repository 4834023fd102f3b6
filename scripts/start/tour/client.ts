import { type Client, createClient } from "../../../client/client.ts";

/** The typed client, with the token of one app. */
export function tourClient(baseUrl: string, token: string, signal: AbortSignal): Client {
  return createClient({ baseUrl, token, signal });
}
