import { z } from "zod";

import { MAX_REFERENCE_LENGTH } from "../../config/limits.ts";
import { REQUEST_STATUSES, REQUEST_TYPES } from "../../domain/request.ts";
import { WAITING_FOR, type WaitingFor } from "../../domain/waiting-for.ts";
import { MOST_COUNTED } from "../../store/db/pages.ts";
import {
  address,
  fieldErrors,
  integer,
  meanings,
  requestFailure,
  requestId,
  time,
  transactionHash,
  wei,
} from "./outputs.ts";
import {
  address as anyAddress,
  refuse,
  text,
  transactionHash as anyTransactionHash,
  userIdentifier,
} from "./inputs.ts";
import { longPageFields, orderField, pageFrameFields, pageSchema, refuseOthers } from "./pages.ts";

const BOUND = `\`total\` counts up to ${MOST_COUNTED.toLocaleString("en")} of them; together with other filters, only so many of the newest are searched.`;

export const requestsQuery = z
  .strictObject({
    status: z.enum(REQUEST_STATUSES).optional().describe("Only requests with this status."),
    type: z.enum(REQUEST_TYPES).optional().describe("Only requests of this type."),
    transaction_hash: anyTransactionHash
      .optional()
      .describe("Only requests that this transaction carries. In any case."),
    reference: text(MAX_REFERENCE_LENGTH, 1).optional().describe(`Only requests with this \`reference\`. ${BOUND}`),
    collection: anyAddress.optional().describe(`Only requests that concern this collection or its tokens. ${BOUND}`),
    wallet: anyAddress
      .optional()
      .describe(`Only mints to this address, transfers from it or to it, and burns of its tokens. ${BOUND}`),
    user: userIdentifier
      .optional()
      .describe("In place of `wallet`: the app's own name for the user. Without a wallet the page is empty."),
    order: orderField("newest", " `oldest` only with `status` and `type`, and without other filters."),
    ...longPageFields,
  })
  .check((context) => {
    const { wallet, user, order, collection, reference, transaction_hash } = context.value;
    if (order === "oldest") refuseOthers(context, "order", { wallet, user, collection, reference, transaction_hash });
    if (wallet !== undefined && user !== undefined)
      refuse(context, "conflict", "Cannot be combined with `wallet`.", ["user"]);
  });

/** Whom and what a request concerns. The names of users are those of now. */
export const parties = {
  contract_address: address
    .nullable()
    .describe("The contract that the request concerns. null while a collection is being created."),
  token_id: integer
    .nullable()
    .describe("The token that the request concerns. null for a collection, and until the id of a new token is known."),
  quantity: integer.nullable().describe("Number of copies. null unless tokens are minted, transferred or burnt."),
  from_address: address.nullable().describe("Who gives the token in a transfer or burn. null otherwise."),
  to_address: address.nullable().describe("Who gets the token of a mint or a transfer. null otherwise."),
  from_user: user("from_address"),
  to_user: user("to_address"),
};

function user(field: string) {
  return z
    .string()
    .nullable()
    .describe(
      `The app's own name for the user who has the wallet \`${field}\` now. null: none of the app's users has it.`,
    );
}

export const request = z
  .object({
    request_id: requestId,
    type: z.enum(REQUEST_TYPES).describe("What the request does."),
    status: z
      .enum(REQUEST_STATUSES)
      .describe(
        "pending: accepted. processing: its transaction was sent. completed and failed are final: they never change.",
      ),
    waiting_for: z
      .enum(Object.keys(WAITING_FOR) as WaitingFor[])
      .nullable()
      .describe(
        `Why the request is not final yet. null when it is. Later versions may have further words. ${meanings(WAITING_FOR)}`,
      ),
    reference: z
      .string()
      .nullable()
      .describe("The `reference` of the call that created the request. null when it had none."),
    nft_collection: address
      .nullable()
      .describe("The collection that the request concerns. null while a collection is being created."),
    nft_token_id: integer
      .nullable()
      .describe(
        "The token that the request concerns. null for a collection, and until the id of a new token is known.",
      ),
    ...parties,
    transaction_hash: transactionHash
      .nullable()
      .describe(
        "The transaction that carries the request. null before it is sent. It can change until the request is final.",
      ),
    block_number: z.int().nullable().describe("The block of that transaction. null until it is mined."),
    gas_used: z
      .int()
      .nullable()
      .describe(
        "Its share of the gas of the transactions that carried it. null: none is mined, or the node did not show the receipt yet.",
      ),
    fee_wei: wei.nullable().describe("Its share of their fees, in wei. It is set together with `gas_used`."),
    error_code: requestFailure.nullable().describe("Why the request failed. null unless it failed."),
    error_message: z
      .string()
      .nullable()
      .describe(
        "The same as a sentence for a person, with what to do next. `errors` can have more. null unless it failed.",
      ),
    errors: fieldErrors,
    retry_of: requestId.nullable().describe("The failed request that this one sends again. null: none."),
    retried_by: requestId.nullable().describe("The request that sends this one again. null: none."),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Request" });

export const requestsPage = z
  .object({ requests: pageSchema(request), ...pageFrameFields })
  .meta({ id: "RequestsPage" });
