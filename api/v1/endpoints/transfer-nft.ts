import { transfer } from "../../commands/transfer.ts";
import { defineEndpoint, Verbatim } from "../endpoint.ts";
import { accepted } from "../schemas/outputs.ts";
import { none, noQuery } from "../schemas/params.ts";
import { transferBody } from "../schemas/transfers.ts";

export function transferNft() {
  return defineEndpoint({
    method: "post",
    path: "/transfers",
    summary: "Transfer a token out of a wallet",
    scope: "transfer",
    params: none,
    query: noQuery,
    body: transferBody,
    response: accepted,
    idempotent: true,
    errors: ["wallet_not_found", "contract_not_supported", "token_not_found", "insufficient_balance", "token_busy"],
    handle: async (deps, call) => new Verbatim(await transfer(deps, call, call.body)),
  });
}
