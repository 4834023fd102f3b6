import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";
import type { z } from "zod";

import { eventExample, testEventExample } from "../examples.ts";
import { event, testEvent } from "../schemas/events.ts";

/** The calls that the service makes to the URL of `PUT /v1/webhook`. */
export function webhookCalls(): ZodOpenApiPathsObject {
  const words =
    "`sent` may come once per request; of `completed` and `error` exactly one comes. Each may be delivered more than once: its `webhook-id` tells. Events of one request come in their order.";
  return {
    event: { post: call("receiveEvent", "Something happened to a request", words, event, eventExample) },
    test: {
      post: call(
        "receiveTest",
        "The app asked for a test",
        "Sent by `POST /v1/webhook/test`, and signed like every other.",
        testEvent,
        testEventExample,
      ),
    },
  };
}

const SIGNATURE_HEADERS = [
  ["webhook-id", "The same at every try, and the `id` of the body.", "0e2f6c0e-8a3f-4d4c-9a55-0d6c1b7f2a10"],
  ["webhook-timestamp", "When it was sent, in seconds since 1970. Refuse what is old.", "1777889730"],
  [
    "webhook-signature",
    "Signatures of `<webhook-id>.<webhook-timestamp>.<body>` (Standard Webhooks): `v1,` and base64 of HMAC-SHA256, separated by spaces while two secrets are live.",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  ],
] as const;

function call(
  operationId: string,
  summary: string,
  description: string,
  schema: z.ZodType,
  example: unknown,
): ZodOpenApiOperationObject {
  return {
    operationId,
    tags: ["Webhooks"],
    summary,
    description,
    security: [],
    parameters: SIGNATURE_HEADERS.map(([name, words, sample]) => ({
      in: "header" as const,
      name,
      required: true,
      description: words,
      schema: { type: "string" as const },
      example: sample,
    })),
    // What the service sends may gain fields like what it answers.
    requestBody: { required: true, content: { "application/json": { schema, example } } },
    responses: {
      "2XX": { description: "Taken, within 15 seconds." },
      "410": { description: "No more of them: the webhook is disabled." },
      default: { description: "Tried again later; redirects are not followed." },
    },
  };
}
