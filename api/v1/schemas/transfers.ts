import { z } from "zod";

import { address, destination, integerForms, optional, quantity, tokenId } from "./inputs.ts";

export const transferBody = z
  .strictObject({
    from_address: address,
    to_address: destination,
    contract_address: address,
    token_id: tokenId,
    amount: z
      .preprocess((value) => (value === "" ? undefined : value), optional(quantity))
      .meta({
        description: "Number of copies. ERC721: blank or 1.",
        override: { anyOf: [...integerForms(1), { type: "string", maxLength: 0 }, { type: "null" }] },
      }),
  })
  .meta({ id: "Transfer" });
