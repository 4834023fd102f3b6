import { z } from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";

import { COLLECTION, collectionExample, heldNftExample } from "../examples.ts";
import { tokenMetadata } from "../schemas/nfts.ts";
import { errorResponses } from "./errors.ts";
import { headerRefs } from "./headers.ts";
import { ipfsPaths } from "./ipfs.ts";
import { operation, type Parameter, pathParameter, PUBLIC_ERRORS } from "./public-operation.ts";

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
    ...ipfsPaths(),
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
