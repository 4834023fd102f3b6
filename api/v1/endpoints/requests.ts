import type { Scope } from "../../commands/api-tokens.ts";
import { retryRequest } from "../../commands/retry.ts";
import { isFinal } from "../../domain/request.ts";
import { withUsers } from "../../store/outbox/event-users.ts";
import { listRequests as list } from "../../store/requests/requests.ts";
import { requireScope } from "../authenticate.ts";
import { defineEndpoint, Verbatim } from "../endpoint.ts";
import { acceptedExample, pageExample, requestExample } from "../examples.ts";
import { foundOne, presentRequest } from "../present.ts";
import { accepted } from "../schemas/outputs.ts";
import { listingOf, pageAnswer, pageOfFound, readPage } from "../schemas/pages.ts";
import { requestParams } from "../schemas/params.ts";
import { walletOf } from "../by-user.ts";
import { request, requestsPage, requestsQuery } from "../schemas/requests.ts";

/** Those of the calls that create requests. */
const RETRY_ERRORS = [
  ...(["not_found", "not_retryable", "quota_exceeded", "wallet_not_found", "collection_not_found"] as const),
  ...(["contract_not_supported", "not_supported_by_chain", "too_many_contracts", "token_not_found"] as const),
  ...(["token_already_exists", "insufficient_balance", "supply_exceeded", "wrong_hosting"] as const),
  ...(["not_transferable", "token_busy", "service_cannot_mint", "metadata_frozen", "wallet_watch_only"] as const),
];

const getRequest = defineEndpoint({
  method: "get",
  path: "/requests/:request_id",
  summary: "Show a request",
  name: "getRequest",
  description: "`pending`: accepted. `processing`: its transaction was sent. `completed` and `failed` are final.",
  examples: { answer: requestExample },
  scope: "read",
  params: requestParams,
  response: request,
  errors: ["not_found"],
  isSmall: true,
  handle: async ({ lookUps, state }, { appId, params }) => {
    const row = foundOne(await lookUps.requests([{ appId, id: params.request_id }]));
    const body = presentRequest(row, isFinal(row.status) ? null : await state.reasons());
    return foundOne(await withUsers(lookUps.wallets, [{ appId, body }]));
  },
});

const listRequests = defineEndpoint({
  method: "get",
  path: "/requests",
  summary: "List the app's requests",
  name: "listRequests",
  description:
    "Newest first, unless `order` says otherwise. `transaction_hash` lists the app's requests in one transaction: they share its gas and its fee. The transaction of a request can change until the request is final. `reference` lists the requests whose calls had this `reference`. `collection`, and `wallet` or `user`, list the requests that concern them.",
  examples: { answer: { requests: [requestExample], ...pageExample } },
  scope: "read",
  query: requestsQuery,
  response: requestsPage,
  handle: async ({ database, lookUps, state }, { appId, query }) => {
    const { order = "newest" } = query;
    const listing = listingOf("requests", order, "newest");
    const wanted = readPage(query, listing);
    const wallet = await walletOf(lookUps, appId, query.wallet, query.user);
    if (wallet === undefined) return pageAnswer(pageOfFound<never>([], wanted.limit), listing, "requests", []);
    const filter = {
      status: query.status ?? null,
      type: query.type ?? null,
      transactionHash: query.transaction_hash ?? null,
      reference: query.reference ?? null,
      collection: query.collection ?? null,
      wallet,
    };
    const page = await list(database.read, appId, filter, wanted, order);
    const reasons = page.items.every(({ status }) => isFinal(status)) ? null : await state.reasons();
    const entries = page.items.map((row) => ({ appId, body: presentRequest(row, reasons) }));
    const requests = await withUsers(lookUps.wallets, entries);
    return pageAnswer(page, listing, "requests", requests);
  },
});

const retry = defineEndpoint({
  method: "post",
  path: "/requests/:request_id/retry",
  summary: "Send a failed request again",
  name: "retryRequest",
  description:
    "Creates a new request that does the same, with the same `reference`, and answers its id. Its `retry_of` names the failed request, whose `retried_by` names the new one. Needs the scope of the call that created the request: `mint`, `transfer` (also for burns), or `collections`. A request is sent again once: a repeated call answers the same new request. All rules are checked again. `copy_media` copies the media again.",
  examples: { answer: acceptedExample },
  scope: null,
  params: requestParams,
  response: accepted,
  errors: RETRY_ERRORS,
  handle: async (deps, call) => {
    const require = (scope: Scope) => {
      requireScope(call, scope, "the call that created this request");
    };
    return new Verbatim(await retryRequest(deps, call, call.params.request_id, require));
  },
});

export const REQUESTS = [listRequests, getRequest, retry];
