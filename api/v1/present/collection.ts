import type { z } from "zod";

import type { StoredCollection } from "../../store/listings/collections.ts";
import type { collection } from "../schemas/collections.ts";
import { isoTime } from "./time.ts";
import { hostedCollectionUri, type Place } from "./uris.ts";

export function presentCollection(place: Place, row: StoredCollection): z.input<typeof collection> {
  const hosted = row.hosting === "hosted";
  return {
    address: row.address,
    type: row.type,
    name: row.name,
    symbol: row.symbol,
    hosting: row.hosting,
    mint_supply_count: row.max_supply,
    soulbound: row.soulbound === 1,
    minted: row.minted,
    owner: row.owner,
    collection_uri: row.collection_uri ?? (hosted ? hostedCollectionUri(place, row.address) : null),
    ...(hosted ? presentHostedMetadata(row) : { base_uri: row.base_uri }),
    request_id: row.request_id,
    created_at: isoTime(row.created_at),
  };
}

function presentHostedMetadata({ metadata }: StoredCollection) {
  return {
    description: metadata.description ?? null,
    image: metadata.image ?? null,
    external_link: metadata.external_link ?? null,
    seller_fee_basis_points: metadata.seller_fee_basis_points ?? null,
    fee_recipient: metadata.fee_recipient ?? null,
  };
}
