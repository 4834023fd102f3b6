import { changeCollectionMetadata } from "../../commands/change-metadata.ts";
import type { Limits } from "../../config/limits.ts";
import { defineEndpoint } from "../endpoint.ts";
import { REQUEST_ID } from "../examples.ts";
import { changedCollection, collectionChanges } from "../schemas/metadata.ts";
import { addressParams, noQuery } from "../schemas/params.ts";

export function changeCollection(limits: Limits) {
  return defineEndpoint({
    method: "patch",
    path: "/collections/:address",
    summary: "Change the metadata of a hosted collection",
    name: "changeCollection",
    description:
      "Missing fields keep their values; null removes a field. On-chain royalties (ERC-2981) do not change. The service announces the change on chain (ERC-7572), unless the collection has its own owner.",
    examples: {
      bodies: { "A new description": { description: "A thousand and one cats", external_link: null } },
      answer: { metadata: { description: "A thousand and one cats" }, request_id: REQUEST_ID },
    },
    scope: "collections",
    params: addressParams,
    query: noQuery,
    body: collectionChanges(limits),
    response: changedCollection,
    errors: ["not_found", "wrong_hosting", "metadata_frozen", "quota_exceeded"],
    handle: async (deps, call) => {
      const { metadata, requestId } = await changeCollectionMetadata(deps, call, call.params.address, call.body);
      return { metadata, request_id: requestId };
    },
  });
}
