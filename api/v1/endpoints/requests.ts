import { isFinal } from "../../domain/request.ts";
import { listRequests as list } from "../../store/requests/requests.ts";
import { defineEndpoint } from "../endpoint.ts";
import { pageExample, requestExample } from "../examples.ts";
import { foundOne, presentRequest } from "../present.ts";
import { listingOf, pageAnswer, pageOfFound, readPage } from "../schemas/pages.ts";
import { requestParams } from "../schemas/params.ts";
import { walletOf } from "../by-user.ts";
import { request, requestsPage, requestsQuery } from "../schemas/requests.ts";

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
    return presentRequest(row, isFinal(row.status) ? null : await state.reasons());
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
    const requests = page.items.map((row) => presentRequest(row, reasons));
    return pageAnswer(page, listing, "requests", requests);
  },
});

export const REQUESTS = [listRequests, getRequest];
