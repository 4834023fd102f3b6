import { z } from "zod";

import { type Limits, MAX_BASIS_POINTS } from "../../config/limits.ts";
import { count, destination, text } from "./inputs.ts";
import { attributes, tokenMetadata } from "./nfts.ts";
import { address, requestId } from "./outputs.ts";
import { contentUri, linkUri } from "./uris.ts";

/** A field of a metadata change: null removes it; a missing field keeps its value. */
function change<S extends z.ZodType>(schema: S) {
  return schema.nullable().optional();
}

export function collectionChanges(limits: Limits) {
  return z.strictObject({
    description: change(text(limits.description)),
    image: change(contentUri(limits.uri)),
    external_link: change(linkUri(limits.uri)),
    seller_fee_basis_points: change(count(MAX_BASIS_POINTS)),
    fee_recipient: change(destination),
  });
}

export function tokenChanges(limits: Limits) {
  return z.strictObject({
    name: change(text(limits.name)),
    description: change(text(limits.description)),
    image: change(contentUri(limits.uri)),
    external_url: change(linkUri(limits.uri)),
    attributes: change(attributes(limits.attributes)),
    background_color: change(text(limits.symbol)),
    animation_url: change(contentUri(limits.uri)),
    youtube_url: change(linkUri(limits.uri)),
  });
}

const announcement = requestId.nullable().meta({
  description:
    "The request that announces the change on chain. null when nothing changed, or when the collection has its own owner: then only that owner can announce.",
});

export const changedCollection = z.object({
  metadata: z.object({
    description: z.string().optional(),
    image: z.string().optional(),
    external_link: z.string().optional(),
    seller_fee_basis_points: z.int().optional(),
    fee_recipient: address.optional(),
  }),
  request_id: announcement,
});

export const changedToken = z.object({ metadata: tokenMetadata, request_id: announcement });
