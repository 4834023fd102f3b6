import { z } from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from "zod-openapi";

import { READINESS_WORDS, type ReadinessWord } from "../../domain/conditions.ts";
import { COLLECTION, collectionExample, heldNftExample } from "../examples.ts";
import { tokenMetadata } from "../schemas/nfts.ts";
import { ipfsPaths } from "./ipfs.ts";
import { htmlOperation, operation, type Parameter, pathParameter, PUBLIC_ERRORS } from "./public-operation.ts";

/* Public paths beside `/v1`. */

const READINESS_MEANINGS = Object.entries(READINESS_WORDS)
  .map(([word, meaning]) => `\`${word}\`: ${meaning}`)
  .join(" ");

const collectionMetadata = z
  .object({
    name: z.string().meta({ description: "Name of the collection." }),
    symbol: z.string().meta({ description: "Symbol of the collection." }),
    description: z.string().optional().meta({ description: "Text about the collection." }),
    image: z.string().optional().meta({ description: "URI of a picture." }),
    external_link: z.string().optional().meta({ description: "URI of a website." }),
    seller_fee_basis_points: z.int().optional().meta({ description: "Royalty, in hundredths of a percent." }),
    fee_recipient: z.string().optional().meta({ description: "Who gets the royalty." }),
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
      get: homeOperation(),
    },
    "/healthz": {
      get: operation("getHealth", "Whether the process runs", PUBLIC_ERRORS.health, {
        schema: z.object({ status: z.literal("ok").meta({ description: "The process answers." }) }),
        example: { status: "ok" },
      }),
    },
    "/readyz": {
      get: operation("getReadiness", "Whether the service can do its work", PUBLIC_ERRORS.ready, {
        schema: z.object({
          status: z.literal("ready").meta({
            description: "The process serves calls. A worker or lane that cannot work now does not change that.",
          }),
          checks: z
            .record(z.string(), z.enum(Object.keys(READINESS_WORDS) as ReadinessWord[]))
            .meta({ description: `The result of each check. ${READINESS_MEANINGS}` }),
        }),
        example: { status: "ready", checks: { database: "ok", chain: "ok", rows: "ok" } },
      }),
    },
    "/docs": { get: htmlOperation("getDocs", "Public", "This document as a page, to read and to try out") },
    "/openapi.json": {
      get: operation("getDocument", "This document", PUBLIC_ERRORS.health, {
        schema: z.object({ openapi: z.string().meta({ description: "Version of the OpenAPI format." }) }).loose(),
        example: { openapi: "3.1.0" },
      }),
    },
  };
}

function homeOperation(): ZodOpenApiOperationObject {
  const json = operation("getHome", "Links to the documentation and the health checks", PUBLIC_ERRORS.health, {
    schema: z.object({
      name: z.string().meta({ description: "Name of the service." }),
      version: z.string().meta({ description: "Version of the service." }),
      links: z.record(z.string(), z.string()).meta({ description: "URLs by what they lead to." }),
    }),
    example: { name: "Moneta", version: "1.0.0", links: { docs: "https://nft.example/docs" } },
  });
  const html = { "text/html": { schema: { type: "string" as const } } };
  const success = json.responses["200"] as ZodOpenApiResponseObject;
  return {
    ...json,
    description: "A page for browsers (`Accept: text/html`), JSON for all others.",
    responses: { ...json.responses, "200": { ...success, content: { ...success.content, ...html } } },
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
      responses: { ...get.responses, "304": { description: "Not changed: `If-None-Match` has the current tag." } },
    },
    options: {
      ...operation(`get${of}MetadataOptions`, `${summary}: CORS preflight`, PUBLIC_ERRORS.options, null),
      parameters,
    },
  };
}
