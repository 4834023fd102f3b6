import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";
import type { z } from "zod";

import { eventExample, testEventExample } from "../examples.ts";
import { event, testEvent } from "../schemas/events.ts";

/** The calls from the service to the URL of `PUT /v1/webhook`. */
export function webhookCalls(): ZodOpenApiPathsObject {
  const words =
    "`sent` comes at most once per request, then either `completed` or `error`. An event can be delivered more than once: compare its `webhook-id`. The events of one request arrive in order.";
  return {
    event: { post: call("receiveEvent", "An event of a request", words, event, eventExample) },
    test: {
      post: call(
        "receiveTest",
        "A test event",
        "Sent by `POST /v1/webhook/test`, and signed like every event.",
        testEvent,
        testEventExample,
      ),
    },
  };
}

const SIGNATURE_HEADERS = [
  ["webhook-id", "The `id` of the body, the same at every try.", "0e2f6c0e-8a3f-4d4c-9a55-0d6c1b7f2a10"],
  ["webhook-timestamp", "Time of sending, in seconds since 1970. Reject old calls.", "1777889730"],
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
    // Like answers, these bodies may gain fields later.
    requestBody: { required: true, content: { "application/json": { schema, example } } },
    responses: {
      "2XX": { description: "Delivered. The receiver has 15 seconds to answer." },
      "410": { description: "The receiver wants no more events: the webhook is disabled." },
      default: { description: "The delivery is retried later. Redirects are not followed." },
    },
  };
}
