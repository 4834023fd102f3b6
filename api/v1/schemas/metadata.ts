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
    description: change(text(limits.description)).meta({ description: "Text about the collection." }),
    image: change(contentUri(limits.uri)),
    external_link: change(linkUri(limits.uri)),
    seller_fee_basis_points: change(count(MAX_BASIS_POINTS)).meta({
      description: "Royalty on sales, in hundredths of a percent.",
    }),
    fee_recipient: change(destination).meta({ description: "Who gets the royalty." }),
  });
}

export function tokenChanges(limits: Limits) {
  return z.strictObject({
    name: change(text(limits.name)).meta({ description: "`{token_id}` stands for the token id." }),
    description: change(text(limits.description)).meta({ description: "`{token_id}` stands for the token id." }),
    image: change(contentUri(limits.uri)),
    external_url: change(linkUri(limits.uri)),
    attributes: change(attributes(limits)).meta({ description: "Properties of the token." }),
    background_color: change(text(limits.symbol)).meta({ description: "Six hexadecimal digits, without #." }),
    animation_url: change(contentUri(limits.uri)),
    youtube_url: change(linkUri(limits.uri)),
  });
}

const announcement = requestId.nullable().meta({
  description:
    "The request that announces the change on chain. null when nothing changed, or when the collection has its own owner: then only that owner can announce.",
});

export const changedCollection = z.object({
  metadata: z
    .object({
      description: z.string().optional().meta({ description: "Text about the collection." }),
      image: z.string().optional().meta({ description: "URI of a picture." }),
      external_link: z.string().optional().meta({ description: "URI of a website." }),
      seller_fee_basis_points: z.int().optional().meta({ description: "Royalty, in hundredths of a percent." }),
      fee_recipient: address.optional().meta({ description: "Who gets the royalty." }),
    })
    .meta({ description: "All metadata after the change." }),
  request_id: announcement,
});

export const changedToken = z.object({ metadata: tokenMetadata, request_id: announcement });
