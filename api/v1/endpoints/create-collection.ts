import { createCollection as accept } from "../../commands/create-collection.ts";
import type { Limits } from "../../config/limits.ts";
import type { CollectionMetadata, CreateCollection } from "../../domain/command.ts";
import { defineEndpoint, Verbatim } from "../endpoint.ts";
import { acceptedExample, ALICE } from "../examples.ts";
import { type CreateCollectionBody, createCollectionBody, HOSTED_FIELDS } from "../schemas/collections.ts";
import { accepted } from "../schemas/outputs.ts";
import { none, noQuery } from "../schemas/params.ts";

export function createCollection(limits: Limits) {
  return defineEndpoint({
    method: "post",
    path: "/collections",
    summary: "Create a collection, hosted or self-hosted",
    name: "createCollection",
    description:
      "`base_uri` or `collection_uri` makes the collection self-hosted: the app hosts the metadata. Without them the service hosts it. The collection is listed when its request has completed.",
    examples: {
      bodies: {
        "Hosted ERC721": {
          type: "ERC721",
          name: "Cats",
          symbol: "CAT",
          mint_supply_count: 1000,
          description: "A thousand cats",
          seller_fee_basis_points: 500,
          fee_recipient: ALICE,
        },
        "Self-hosted ERC1155": {
          type: "ERC1155",
          name: "Gems",
          symbol: "GEM",
          base_uri: "https://gems.example/{id}.json",
          collection_uri: "https://gems.example/all.json",
        },
      },
      answer: acceptedExample,
    },
    scope: "collections",
    params: none,
    query: noQuery,
    body: createCollectionBody(limits),
    response: accepted,
    idempotent: true,
    errors: ["quota_exceeded"],
    handle: async (deps, call) => new Verbatim(await accept(deps, call, commandOf(call.body))),
  });
}

function commandOf(body: CreateCollectionBody): CreateCollection {
  const cap = body.mint_supply_count ?? body.mint_supply_account ?? 0;
  const baseUri = body.base_uri ?? null;
  return {
    kind: "create-collection",
    type: body.type,
    hosting: baseUri === null ? "hosted" : "self-hosted",
    name: body.name,
    symbol: body.symbol,
    maxSupply: body.type === "ERC721" && cap > 0 ? cap : null,
    baseUri,
    collectionUri: body.collection_uri ?? null,
    metadata: metadataOf(body),
    newOwner: body.new_owner ?? null,
    soulbound: body.soulbound ?? false,
  };
}

function metadataOf(body: CreateCollectionBody): CollectionMetadata {
  const given = HOSTED_FIELDS.filter((name) => body[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, body[name]]));
}
