import { z } from "zod";

import { address, destination, integerForms, optional, quantity, tokenId } from "./inputs.ts";

export const transferBody = z
  .strictObject({
    from_address: address.meta({ description: "The wallet of the app that holds the token." }),
    to_address: destination.meta({ description: "Who gets the token: any address that can hold it." }),
    contract_address: address.meta({ description: "The contract of the token." }),
    token_id: tokenId.meta({ description: "The token." }),
    amount: z
      .preprocess((value) => (value === "" ? undefined : value), optional(quantity))
      .meta({
        description: "Number of copies. ERC721: blank or 1.",
        override: { anyOf: [...integerForms(1), { type: "string", maxLength: 0 }, { type: "null" }] },
      }),
  })
  .meta({ id: "Transfer" });
