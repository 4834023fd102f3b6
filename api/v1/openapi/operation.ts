import type { ZodObject } from "zod";
import type { ZodOpenApiOperationObject } from "zod-openapi";

import type { Endpoint } from "../endpoint.ts";
import { errorCodesOf, errorResponses } from "./errors.ts";
import { headerRefs, RATE_HEADERS } from "./headers.ts";
import { securityOf } from "./security.ts";

/** Groups of endpoints, by the first segment of their paths. */
const TAGS: Record<string, string> = {
  accounts: "Wallets",
  collections: "Collections",
  nfts: "Minting",
  media: "Media",
  receivers: "Receivers",
  transfers: "Transfers",
  burns: "Transfers",
  contracts: "Contracts",
  requests: "Requests",
  webhook: "Webhooks",
  webhooks: "Webhooks",
  events: "Webhooks",
  exports: "Exports",
  usage: "Usage",
  summary: "Usage",
  console: "Console",
  tokens: "Tokens",
  operator: "Operator",
};

export const TAG_WORDS = {
  Wallets: "The app's wallets, and the tokens that they hold.",
  Collections: "The app's contracts, and their tokens.",
  Media: "Files for metadata.",
  Minting: "Mint tokens, or more copies of a token.",
  Receivers: "Who is to get tokens, and whether they can.",
  Transfers: "Transfer or burn tokens of the app's wallets.",
  Contracts: "Contracts that others deployed and the app follows.",
  Requests: "The state and the result of every on-chain call.",
  Webhooks: "Events, sent to URLs of the app or read from a feed.",
  Exports: "Whole lists in one file.",
  Usage: "What the app used: requests, gas, fees, media and wallets.",
  Console: "Sessions of the console, which have a cookie instead of a token.",
  Tokens: "The app's tokens, for console sessions.",
  Operator: "The whole service, for the operator's console session. These calls need no app.",
  Public: "Open to everybody, without a token.",
  Errors: "Every error code, and what to do about it.",
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
    security: securityOf(endpoint),
    requestParams: { path: endpoint.params as ZodObject, query: endpoint.query as ZodObject },
    ...parametersOf(endpoint),
    ...(endpoint.takesFile === true ? { requestBody: FILE_BODY } : {}),
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
        headers: headerRefs(endpoint.sendsRows === true ? [...RATE_HEADERS, "Moneta-As-Of-Block"] : RATE_HEADERS),
        content:
          endpoint.sendsRows === true
            ? rowsContent(endpoint)
            : {
                "application/json": { schema: endpoint.response, example: examples.answer },
                ...(endpoint.stream === undefined ? {} : streamContent(endpoint.stream)),
              },
      },
      ...errorResponses(errorCodesOf(endpoint)),
    },
  };
}

/** OpenAPI describes the bytes of a file by a type without a schema for their contents. */
const FILE_BODY = {
  required: true,
  description: "The bytes of the file. `Content-Type` may be the media type of the file instead.",
  content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
} as const;

/** Headers that the endpoint takes. */
function parametersOf({ idempotent, stream }: Endpoint) {
  const names = [...(idempotent === true ? ["IdempotencyKey"] : []), ...(stream === undefined ? [] : ["LastEventId"])];
  return names.length === 0 ? {} : { parameters: names.map((name) => ({ $ref: `#/components/parameters/${name}` })) };
}

function streamContent({ example }: { example: string }) {
  const description = "Server-sent events: `id` is the cursor, `event` the type, `data` an `Event` as JSON.";
  return { "text/event-stream": { schema: { type: "string" as const, description }, example } };
}

/** OpenAPI 3.1 cannot say that a schema is that of each line. */
function rowsContent({ response, examples }: Endpoint) {
  const description = "A first line with the names of the columns, and a line for each row.";
  return {
    "application/x-ndjson": { schema: response, example: examples.answer },
    "text/csv": { schema: { type: "string" as const, description } },
  };
}

function tagOf(path: string): string {
  const tag = TAGS[path.split("/")[1] ?? ""];
  if (tag === undefined) throw new Error(`no tag is defined for the path ${path}: add its first segment to TAGS`);
  return tag;
}

/** Examples under keys made from their summaries. */
function named(samples: Record<string, unknown>) {
  return Object.fromEntries(
    Object.entries(samples).map(([summary, value]) => [
      summary.toLowerCase().replace(/[^a-z0-9]+/g, "-"),
      { summary, value },
    ]),
  );
}
