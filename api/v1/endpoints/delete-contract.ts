import { unfollowContract } from "../../commands/unfollow-contract.ts";
import { ApiError } from "../../domain/error-codes.ts";
import { defineEndpoint } from "../endpoint.ts";
import { endedContract } from "../schemas/contracts.ts";
import { addressParams, noQuery } from "../schemas/params.ts";

export function deleteContract() {
  return defineEndpoint({
    method: "delete",
    path: "/contracts/:address",
    summary: "End the following of a contract",
    name: "deleteContract",
    description:
      "The contract's tokens leave the lists of the app's wallets; what happened before stays in their histories. On the chain nothing changes. Naming the contract again follows it again.",
    examples: { answer: {} },
    scope: "contracts",
    params: addressParams,
    query: noQuery,
    response: endedContract,
    errors: ["not_found"],
    handle: async (deps, { appId, params }) => {
      if (!(await unfollowContract(deps, appId, params.address))) throw new ApiError("not_found");
      return {};
    },
  });
}
