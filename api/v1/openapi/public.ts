import { z } from "zod";
import type {
  ZodOpenApiContentObject,
  ZodOpenApiOperationObject,
  ZodOpenApiPathItemObject,
  ZodOpenApiPathsObject,
} from "zod-openapi";

import { MAX_HEADER_BYTES } from "../../config/limits.ts";
import { READINESS_WORDS, type ReadinessWord } from "../../domain/conditions.ts";
import type { HttpErrorCode } from "../../domain/error-codes.ts";
import {
  COLLECTION,
  collectionExample,
  eventExample,
  heldNftExample,
  testEventExample,
  tokenEventExample,
} from "../examples.ts";
import { event, gapEvent, testEvent, tokenCorrection, tokenEvent } from "../schemas/events.ts";
import { tokenMetadata } from "../schemas/nfts.ts";
import { errorResponses } from "./errors.ts";
import { headerRefs, type ResponseHeader } from "./headers.ts";

/** The calls from the service to the URLs of webhooks. */
export function webhookCalls(): ZodOpenApiPathsObject {
  const words =
    "`sent` comes at most once per request, then either `completed` or `error`. An event can be delivered more than once: compare its `webhook-id`. The events of one request arrive in order.";
  return {
    event: { post: call("receiveEvent", "An event of a request", words, event, eventExample) },
    token: {
      post: call(
        "receiveTokenEvent",
        "A movement of tokens",
        "Only if the webhook names the type. The events of one token arrive in the order of the chain.",
        z.union([tokenEvent, tokenCorrection]),
        tokenEventExample,
      ),
    },
    gap: {
      post: call(
        "receiveGap",
        "Blocks in which some movements have no event",
        "Only if the webhook names the type.",
        gapEvent,
        {
          ...{ id: testEventExample.id, type: "gap", request_id: null },
          ...{ from_block: 5_120_000, to_block: 5_120_481, created_at: testEventExample.created_at },
        },
      ),
    },
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

/* Public paths beside `/v1`. */

const READINESS_MEANINGS = Object.entries(READINESS_WORDS)
  .map(([word, meaning]) => `\`${word}\`: ${meaning}`)
  .join(" ");

const collectionMetadata = z
  .object({
    name: z.string().describe("Name of the collection."),
    symbol: z.string().describe("Symbol of the collection."),
    description: z.string().optional().describe("Text about the collection."),
    image: z.string().optional().describe("URI of a picture."),
    external_link: z.string().optional().describe("URI of a website."),
    banner_image: z.string().optional().describe("URI of a wide picture."),
    featured_image: z.string().optional().describe("URI of a picture for a selection."),
    collaborators: z.array(z.string()).optional().describe("Who may edit the collection."),
    seller_fee_basis_points: z.int().optional().describe("Royalty, in hundredths of a percent."),
    fee_recipient: z.string().optional().describe("Who gets the royalty."),
  })
  .meta({ id: "CollectionMetadata", description: "Contract-level metadata (ERC-7572)." });

const { name, symbol, description, image } = collectionExample;

export function publicPaths(): ZodOpenApiPathsObject {
  const chainId = pathParameter("chain_id", "Id of the service's chain.", "31337", { pattern: "^[0-9]{1,20}$" });
  const collection = pathParameter("collection", "Address of the collection, in any case.", COLLECTION, {
    pattern: "^0x[0-9a-fA-F]{40}$",
  });
  const tokenId = pathParameter(
    "token_id",
    "Token id. Exactly 64 digits are read as hexadecimal, anything else as decimal.",
    "12",
    { pattern: "^[0-9a-fA-F]{1,78}$" },
  );
  return {
    "/metadata/{chain_id}/{collection}": metadataPath("Collection", [chainId, collection], collectionMetadata, {
      name,
      symbol,
      description,
      image,
    }),
    "/metadata/{chain_id}/{collection}/{token_id}": metadataPath(
      "Token",
      [chainId, collection, tokenId],
      tokenMetadata,
      heldNftExample.metadata,
    ),
    ...ipfsPaths(),
    "/": {
      get: operation("getHome", "Links to the documentation and the health checks", PUBLIC_ERRORS.health, {
        description: "A page for browsers (`Accept: text/html`), JSON for all others.",
        content: {
          "application/json": {
            schema: homeLinks,
            example: { name: "Moneta", version: "1.0.0", links: { docs: "https://nft.example/docs" } },
          },
          ...HTML,
        },
      }),
    },
    "/healthz": {
      get: operation("getHealth", "Whether the process runs", PUBLIC_ERRORS.health, {
        content: json(z.object({ status: z.literal("ok").describe("The process answers.") }), { status: "ok" }),
      }),
    },
    "/readyz": {
      get: operation("getReadiness", "Whether the service can do its work", PUBLIC_ERRORS.ready, {
        content: json(readiness, { status: "ready", checks: { database: "ok", chain: "ok", rows: "ok" } }),
      }),
    },
    "/docs": { get: htmlOperation("getDocs", "Public", "This document as a page, to read and to try out") },
    "/openapi.json": {
      get: operation("getDocument", "This document", PUBLIC_ERRORS.health, {
        content: json(z.object({ openapi: z.string().describe("Version of the OpenAPI format.") }).loose(), {
          openapi: "3.1.0",
        }),
      }),
    },
  };
}

const homeLinks = z.object({
  name: z.string().describe("Name of the service."),
  version: z.string().describe("Version of the service."),
  links: z.record(z.string(), z.string()).describe("URLs by what they lead to."),
});

const readiness = z.object({
  status: z
    .literal("ready")
    .describe("The process serves calls. A worker or lane that cannot work now does not change that."),
  checks: z
    .record(z.string(), z.enum(Object.keys(READINESS_WORDS) as ReadinessWord[]))
    .describe(`The result of each check. ${READINESS_MEANINGS}`),
});

function metadataPath(of: "Collection" | "Token", parameters: Parameter[], schema: z.ZodType, example: unknown) {
  const summary = `Metadata of a hosted ${of.toLowerCase()}`;
  const get = operation(`get${of}Metadata`, summary, PUBLIC_ERRORS.metadata, {
    headers: ["ETag", "Cache-Control"],
    content: json(schema, example),
  });
  return {
    get: {
      ...get,
      parameters,
      responses: { ...get.responses, "304": { description: "Not changed: `If-None-Match` has the current tag." } },
    },
    options: {
      ...operation(`get${of}MetadataOptions`, `${summary}: CORS preflight`, PUBLIC_ERRORS.options),
      parameters,
    },
  };
}

const DESCRIPTION =
  "Content under a CID never changes. `Range` is supported. The content comes from third parties, so no part of it may run on this origin.";

/** Files hosted on IPFS: by CID, or by path in a directory. */
function ipfsPaths(): ZodOpenApiPathsObject {
  const cid = pathParameter(
    "cid",
    "Content identifier.",
    "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
    { maxLength: 128 },
  );
  const path = pathParameter(
    "path",
    "Path of the file in the directory, **slashes included**, such as `images/cat.png`. OpenAPI 3.1 cannot describe such a " +
      "parameter, so generated clients may escape the slashes as `%2F`: the service accepts both.",
    "collection.json",
    { maxLength: MAX_HEADER_BYTES },
  );
  return {
    "/ipfs/{cid}": contentPath("Content", "Content that the service hosts on IPFS", [cid]),
    "/ipfs/{cid}/{path}": contentPath("ContentAt", "A file of a directory that the service hosts on IPFS", [cid, path]),
  };
}

function contentPath(name: string, summary: string, parameters: Parameter[]): ZodOpenApiPathItemObject {
  const file = { schema: { type: "string" as const, format: "binary" } };
  // The first is for generators of clients, which know no `*/*`.
  const content = { "application/octet-stream": file, "*/*": file };
  const headers = headerRefs(["ETag", "Cache-Control", "Accept-Ranges"]);
  const ranged = headerRefs(["ETag", "Cache-Control", "Accept-Ranges", "Content-Range"]);
  const unchanged = {
    description: "Not changed: `If-None-Match` has the current tag.",
    headers: headerRefs(["ETag", "Cache-Control"]),
  };
  const common = { tags: ["Public"], description: DESCRIPTION, security: [], parameters };
  const responses = (whole: string, part: string, body: { content?: typeof content }) => ({
    "200": { description: whole, headers, ...body },
    "206": { description: part, headers: ranged, ...body },
    "304": unchanged,
    ...errorResponses(PUBLIC_ERRORS.ipfs),
  });
  return {
    get: {
      ...{ ...common, operationId: `get${name}`, summary },
      responses: responses("The whole content.", "The bytes in `Range`.", { content }),
    },
    head: {
      ...{ ...common, operationId: `head${name}`, summary: `${summary}: headers only` },
      responses: responses("The headers of the same GET.", "The headers of the same GET with `Range`.", {}),
    },
    options: {
      ...operation(`get${name}Options`, `${summary}: CORS preflight`, PUBLIC_ERRORS.options),
      parameters,
    },
  };
}

/* Shared parts of the operations that need no token. */

/** Error codes of each operation, for the responses that operations share. */
export const PUBLIC_ERRORS = {
  metadata: ["not_found", "payload_too_large", "internal_error", "unavailable"],
  ipfs: ["not_found", "payload_too_large", "range_not_satisfiable", "internal_error", "unavailable"],
  options: ["not_found", "payload_too_large"],
  health: ["payload_too_large", "internal_error"],
  ready: ["payload_too_large", "internal_error", "unavailable"],
} as const satisfies Record<string, readonly HttpErrorCode[]>;

type Parameter = ReturnType<typeof pathParameter>;

/** @param form of the values that exist. Any other value is not found. */
function pathParameter(of: string, words: string, example: string, form: { pattern: string } | { maxLength: number }) {
  return {
    in: "path" as const,
    name: of,
    required: true,
    description: words,
    schema: { type: "string" as const, ...form },
    example,
  };
}

const HTML = { "text/html": { schema: { type: "string" as const } } };

function json(schema: z.ZodType, example: unknown): ZodOpenApiContentObject {
  return { "application/json": { schema, example } };
}

interface PublicAnswer {
  tag?: string;
  description?: string;
  headers?: ResponseHeader[];
  /** Absent: the answer has no body. */
  content?: ZodOpenApiContentObject;
}

/** An operation that needs no token. */
function operation(
  operationId: string,
  summary: string,
  errors: readonly HttpErrorCode[],
  { tag = "Public", description, headers, content }: PublicAnswer = {},
): ZodOpenApiOperationObject {
  const success = { description: "Success.", headers: headerRefs(headers) };
  return {
    ...{ operationId, tags: [tag], summary, security: [] },
    ...(description === undefined ? {} : { description }),
    responses: {
      ...(content === undefined ? { "204": success } : { "200": { ...success, content } }),
      ...errorResponses(errors),
    },
  };
}

/** An operation that answers a page. */
export function htmlOperation(
  operationId: string,
  tag: string,
  summary: string,
  description?: string,
): ZodOpenApiOperationObject {
  const answer = { tag, content: HTML, ...(description === undefined ? {} : { description }) };
  const page = operation(operationId, summary, PUBLIC_ERRORS.health, answer);
  const redirect = { description: "From the same path with a slash at its end." };
  return { ...page, responses: { ...page.responses, "308": redirect } };
}
