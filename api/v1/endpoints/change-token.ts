import { changeTokenMetadata } from "../../commands/change-metadata.ts";
import type { Limits } from "../../config/limits.ts";
import { tokenMetadata } from "../../shared/metadata-documents.ts";
import { defineEndpoint } from "../endpoint.ts";
import { REQUEST_ID } from "../examples.ts";
import { changedToken, tokenChanges } from "../schemas/metadata.ts";
import { noQuery, tokenParams } from "../schemas/params.ts";

export function changeToken(limits: Limits) {
  return defineEndpoint({
    method: "patch",
    path: "/collections/:address/:token_id",
    summary: "Change the metadata of a hosted token",
    name: "changeToken",
    description:
      "Missing fields keep their values; null removes a field. `{token_id}` in `name` and `description` is replaced by the token id. The service announces the change on chain (ERC-4906), unless the collection has its own owner.",
    examples: {
      bodies: { "Another colour": { attributes: [{ trait_type: "fur", value: "blue" }], background_color: null } },
      answer: {
        metadata: { name: "Cat 12", attributes: [{ trait_type: "fur", value: "blue" }] },
        request_id: REQUEST_ID,
      },
    },
    scope: "collections",
    params: tokenParams,
    query: noQuery,
    body: tokenChanges(limits),
    response: changedToken,
    errors: ["not_found", "wrong_hosting", "metadata_frozen", "quota_exceeded"],
    handle: async (deps, call) => {
      const { address, token_id: id } = call.params;
      const { metadata, requestId } = await changeTokenMetadata(deps, call, address, id.toString(), call.body);
      return { metadata: tokenMetadata(metadata, id.toString()), request_id: requestId };
    },
  });
}
