import { listFollowedContracts } from "../../store/listings/followed-contracts.ts";
import { defineEndpoint } from "../endpoint.ts";
import { contractExample, pageExample } from "../examples.ts";
import { isoTime } from "../present/time.ts";
import { contractsPage } from "../schemas/contracts.ts";
import { pageAnswer, pageQuery, readPage } from "../schemas/pages.ts";
import { none } from "../schemas/params.ts";

export function listContracts() {
  return defineEndpoint({
    method: "get",
    path: "/contracts",
    summary: "List the contracts of others that the app follows",
    name: "listContracts",
    description:
      "The app follows a contract that it named in a transfer, or in a call for a wallet's tokens with the scope `contracts`. A contract that floods or keeps failing is quarantined for a time; afterwards everything is read again.",
    examples: { answer: { contracts: [contractExample], ...pageExample } },
    scope: "contracts",
    params: none,
    query: pageQuery,
    response: contractsPage,
    handle: async (deps, { appId, query }) => {
      const page = await listFollowedContracts(deps.database.read, appId, readPage(query, "contracts"));
      const contracts = page.items.map(({ address, type, name, state, reason, asOf, until, followedSince }) => ({
        address,
        type,
        name,
        state,
        reason,
        as_of_block: asOf,
        until: until === null ? null : isoTime(until),
        followed_at: isoTime(followedSince),
      }));
      return pageAnswer(page, "contracts", "contracts", contracts);
    },
  });
}
