import { z } from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";

import type { HttpErrorCode } from "../../domain/error-codes.ts";
import { COLLECTION, collectionExample, heldNftExample } from "../examples.ts";
import { tokenMetadata } from "../schemas/nfts.ts";
import { errorResponses } from "./errors.ts";
import { headerRefs, type ResponseHeader } from "./headers.ts";

/* What is served beside `/v1`, to everybody. */

const collectionMetadata = z
  .object({
    name: z.string(),
    symbol: z.string(),
    description: z.string().optional(),
    image: z.string().optional(),
    external_link: z.string().optional(),
    seller_fee_basis_points: z.int().optional(),
    fee_recipient: z.string().optional(),
  })
  .meta({ id: "CollectionMetadata", description: "Contract-level metadata (ERC-7572)." });

const { name, symbol, description, image } = collectionExample;

/** Codes of each operation here, for the responses that they share with others. */
export const PUBLIC_ERRORS = {
  metadata: ["not_found", "payload_too_large", "internal_error", "unavailable"],
  ipfs: ["not_found", "payload_too_large", "range_not_satisfiable", "internal_error", "unavailable"],
  options: ["not_found", "payload_too_large"],
  health: ["payload_too_large", "internal_error"],
  ready: ["payload_too_large", "internal_error", "unavailable"],
} as const satisfies Record<string, readonly HttpErrorCode[]>;

export function publicPaths(): ZodOpenApiPathsObject {
  const chainId = pathParameter("chain_id", "Id of the chain that the service works on.", "31337");
  const collection = pathParameter("collection", "Address of the collection, in any case.", COLLECTION);
  const tokenId = pathParameter("token_id", "The id: 64 digits are hexadecimal, anything else is decimal.", "12");
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
    "/ipfs/{cid}": ipfsPath(),
    "/healthz": {
      get: operation("getHealth", "Whether the process runs", PUBLIC_ERRORS.health, {
        schema: z.object({ status: z.literal("ok") }),
        example: { status: "ok" },
      }),
    },
    "/readyz": {
      get: operation("getReadiness", "Whether the service can do its work", PUBLIC_ERRORS.ready, {
        schema: z.object({ status: z.literal("ready"), checks: z.record(z.string(), z.string()) }),
        example: { status: "ready", checks: { database: "ok", chain: "ok" } },
      }),
    },
    "/docs": {
      get: {
        operationId: "getDocs",
        tags: ["Public"],
        summary: "This document as a page, to read and to try out",
        security: [],
        responses: {
          "200": {
            description: "Success.",
            headers: headerRefs(),
            content: { "text/html": { schema: { type: "string" } } },
          },
          "308": { description: "From the path with a slash at its end." },
          ...errorResponses(PUBLIC_ERRORS.health),
        },
      },
    },
    "/openapi.json": {
      get: operation("getDocument", "This document", PUBLIC_ERRORS.health, {
        schema: z.object({ openapi: z.string() }).loose(),
        example: { openapi: "3.1.0" },
      }),
    },
  };
}

type Parameter = ReturnType<typeof pathParameter>;

function pathParameter(of: string, words: string, example: string) {
  return {
    in: "path" as const,
    name: of,
    required: true,
    description: words,
    schema: { type: "string" as const },
    example,
  };
}

function metadataPath(of: "Collection" | "Token", parameters: Parameter[], schema: z.ZodType, example: unknown) {
  const summary = `Metadata of a hosted ${of.toLowerCase()}`;
  const get = operation(`get${of}Metadata`, summary, PUBLIC_ERRORS.metadata, { schema, example }, [
    "ETag",
    "Cache-Control",
  ]);
  return {
    get: {
      ...get,
      parameters,
      responses: { ...get.responses, "304": { description: "`If-None-Match` has it already." } },
    },
    options: {
      ...operation(`get${of}MetadataOptions`, `${summary}: what other origins may ask`, PUBLIC_ERRORS.options, null),
      parameters,
    },
  };
}

/** In a directory a path may follow, which a template of OpenAPI cannot say. */
function ipfsPath() {
  const cid = pathParameter(
    "cid",
    "Content identifier.",
    "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
  );
  const content = { "*/*": { schema: { type: "string" as const, format: "binary" } } };
  const headers = headerRefs(["ETag", "Cache-Control"]);
  return {
    get: {
      operationId: "getContent",
      tags: ["Public"],
      summary: "Content that the service hosts on IPFS; of a directory, `/ipfs/{cid}/<path>`",
      description:
        "The same for ever. `Range` is understood. Content comes from strangers: nothing of it runs on this origin.",
      security: [],
      parameters: [cid],
      responses: {
        "200": { description: "All of it.", headers, content },
        "206": { description: "The bytes that `Range` asked for.", headers, content },
        "304": { description: "`If-None-Match` has it already." },
        ...errorResponses(PUBLIC_ERRORS.ipfs),
      },
    },
    options: {
      ...operation("getContentOptions", "Hosted content: what other origins may ask", PUBLIC_ERRORS.options, null),
      parameters: [cid],
    },
  };
}

function operation(
  operationId: string,
  summary: string,
  errors: readonly HttpErrorCode[],
  content: { schema: z.ZodType; example: unknown } | null,
  headers: ResponseHeader[] = [],
): ZodOpenApiOperationObject {
  const success =
    content === null
      ? { "204": { description: "Success.", headers: headerRefs() } }
      : {
          "200": {
            description: "Success.",
            headers: headerRefs(headers),
            content: { "application/json": content },
          },
        };
  return { operationId, tags: ["Public"], summary, security: [], responses: { ...success, ...errorResponses(errors) } };
}
