import { listRequests as list } from "../../store/requests/requests.ts";
import { defineEndpoint } from "../endpoint.ts";
import { pageExample, requestExample } from "../examples.ts";
import { presentRequest } from "../present/request.ts";
import { pageAnswer, readPage } from "../schemas/pages.ts";
import { none } from "../schemas/params.ts";
import { requestsPage, requestsQuery } from "../schemas/requests.ts";

export function listRequests() {
  return defineEndpoint({
    method: "get",
    path: "/requests",
    summary: "List the app's requests, newest first",
    name: "listRequests",
    description:
      "`transaction_hash` lists the app's requests in one transaction: they share its gas and its fee. The transaction of a request can change until the request is final.",
    examples: { answer: { requests: [requestExample], ...pageExample } },
    scope: "read",
    params: none,
    query: requestsQuery,
    response: requestsPage,
    handle: async ({ database }, { appId, query }) => {
      const filter = {
        status: query.status ?? null,
        type: query.type ?? null,
        transactionHash: query.transaction_hash ?? null,
      };
      const page = await list(database.read, appId, filter, readPage(query, "requests"));
      return pageAnswer(page, "requests", "requests", page.items.map(presentRequest));
    },
  });
}
