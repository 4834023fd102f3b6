import { z } from "zod";

import { freezeMetadata } from "../../commands/freeze-metadata.ts";
import { defineEndpoint, Verbatim } from "../endpoint.ts";
import { acceptedExample } from "../examples.ts";
import { accepted } from "../schemas/outputs.ts";
import { addressParams, noQuery } from "../schemas/params.ts";

export function freezeCollection() {
  return defineEndpoint({
    method: "post",
    path: "/collections/:address/freeze",
    summary: "Freeze the metadata of a hosted collection permanently",
    name: "freezeCollection",
    description:
      "Moves the metadata of the collection and of every token into one directory on IPFS. The contract's URIs then point there and can never change again. From this call on, no metadata can be changed and no token with hosted metadata can be minted. If the request fails, both are possible again.",
    examples: { bodies: { "No fields": {} }, answer: acceptedExample },
    scope: "collections",
    params: addressParams,
    query: noQuery,
    body: z.strictObject({}),
    response: accepted,
    errors: ["not_found", "wrong_hosting", "metadata_frozen", "quota_exceeded"],
    handle: async (deps, call) => new Verbatim(await freezeMetadata(deps, call, call.params.address)),
  });
}
