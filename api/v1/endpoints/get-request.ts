import { defineEndpoint } from "../endpoint.ts";
import { requestExample } from "../examples.ts";
import { found } from "../present/not-found.ts";
import { presentRequest } from "../present/request.ts";
import { noQuery, requestParams } from "../schemas/params.ts";
import { request } from "../schemas/requests.ts";

export function getRequest() {
  return defineEndpoint({
    method: "get",
    path: "/requests/:request_id",
    summary: "Show a request",
    name: "getRequest",
    description: "`pending`: accepted. `processing`: its transaction was sent. `completed` and `failed` are final.",
    examples: { answer: requestExample },
    scope: "read",
    params: requestParams,
    query: noQuery,
    response: request,
    errors: ["not_found"],
    handle: async ({ lookUps }, { appId, params }) =>
      presentRequest(found(await lookUps.request(appId, params.request_id))),
  });
}
