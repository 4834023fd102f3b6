import type { ZodObject } from "zod";
import type { ZodOpenApiOperationObject } from "zod-openapi";

import type { Endpoint } from "../endpoint.ts";
import { errorCodesOf, errorResponses } from "./errors.ts";
import { headerRefs, RATE_HEADERS } from "./headers.ts";

/** Groups of endpoints, by the first part of their paths. */
const TAGS: Record<string, string> = {
  accounts: "Wallets",
  collections: "Collections",
  nfts: "Minting",
  transfers: "Transfers",
  requests: "Requests",
  webhook: "Webhooks",
  events: "Webhooks",
};

export const TAG_WORDS = {
  Wallets: "Wallets of the app's users, and what they hold.",
  Collections: "Contracts of the app, and their tokens.",
  Minting: "New tokens, and more copies of them.",
  Transfers: "Tokens on their way from a wallet to anywhere.",
  Requests: "What became of everything that ends on the chain.",
  Webhooks: "How the app hears of it.",
  Public: "For everybody, without a token.",
};

/** `/accounts/:address` as the document writes it. */
export function documentPath(path: string): string {
  return `/v1${path.replace(/:([a-z_]+)/g, "{$1}")}`;
}

export function operationOf(endpoint: Endpoint): ZodOpenApiOperationObject {
  const { examples } = endpoint;
  return {
    operationId: endpoint.name,
    tags: [tagOf(endpoint.path)],
    summary: endpoint.summary,
    ...(endpoint.description === undefined ? {} : { description: endpoint.description }),
    security: [{ token: [endpoint.scope] }],
    requestParams: { path: endpoint.params as ZodObject, query: endpoint.query as ZodObject },
    ...(endpoint.idempotent === true ? { parameters: [{ $ref: "#/components/parameters/IdempotencyKey" }] } : {}),
    ...(endpoint.body === undefined
      ? {}
      : {
          requestBody: {
            // A call without any body counts as `{}`.
            required: !endpoint.body.safeParse({}).success,
            content: { "application/json": { schema: endpoint.body, examples: named(examples.bodies ?? {}) } },
          },
        }),
    responses: {
      "200": {
        description: "Success.",
        headers: headerRefs(RATE_HEADERS),
        content: { "application/json": { schema: endpoint.response, example: examples.answer } },
      },
      ...errorResponses(errorCodesOf(endpoint)),
    },
  };
}

function tagOf(path: string): string {
  const tag = TAGS[path.split("/")[1] ?? ""];
  if (tag === undefined) throw new Error(`no group of endpoints is named for ${path}`);
  return tag;
}

/** Examples under keys that are made of their words. */
function named(samples: Record<string, unknown>) {
  return Object.fromEntries(
    Object.entries(samples).map(([summary, value]) => [
      summary.toLowerCase().replace(/[^a-z0-9]+/g, "-"),
      { summary, value },
    ]),
  );
}
