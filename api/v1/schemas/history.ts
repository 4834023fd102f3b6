import { z } from "zod";

import { address, integer, isFinal, requestId, time, transactionHash } from "./outputs.ts";
import { pageFrameFields, pageSchema } from "./pages.ts";

const historyEntry = z
  .object({
    type: z.enum(["mint", "transfer", "burn"]).describe("What happened."),
    contract_address: address,
    token_id: integer,
    quantity: integer.describe("Number of copies; 1 for ERC721."),
    from_address: address.nullable().describe("null for a mint."),
    to_address: address.nullable().describe("null for a burn."),
    transaction_hash: transactionHash,
    block_number: z.int().describe("The block in which it happened."),
    timestamp: time,
    request_id: requestId.nullable().describe("null when no request of this app caused it."),
    final: isFinal("the movement"),
  })
  .meta({ id: "HistoryEntry" });

export const historyPage = z
  .object({ history: pageSchema(historyEntry), ...pageFrameFields })
  .meta({ id: "HistoryPage" });
