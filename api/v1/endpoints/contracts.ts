import { z } from "zod";

import { showFollowed, unfollowContract } from "../../commands/follow-contents.ts";
import { ApiError } from "../../domain/error-codes.ts";
import { CONTRACT_STATES, QUARANTINE_REASONS } from "../../domain/followed-contract.ts";
import { listFollowedContracts } from "../../store/listings/followed-contracts.ts";
import { defineEndpoint } from "../endpoint.ts";
import { contractExample, pageExample } from "../examples.ts";
import { address, collectionType, time } from "../schemas/outputs.ts";
import { longPageQuery, pageAnswer, pageFrameFields, pageSchema, readPage } from "../schemas/pages.ts";
import { addressParams } from "../schemas/params.ts";

const followedContract = z
  .object({
    address,
    type: collectionType.nullable().describe("null until the service has asked the contract."),
    name: z.string().nullable().describe("null when the contract tells no name."),
    state: z
      .enum(CONTRACT_STATES)
      .describe(
        "- `checking`: not asked for its type yet.\n- `reading`: its past is read.\n- `followed`: its transfers are followed.\n- `quarantined`: left alone until `until`, for `reason`.\n- `unsupported`: no ERC721 or ERC1155 contract.",
      ),
    reason: z
      .enum(QUARANTINE_REASONS)
      .nullable()
      .describe(
        "Why it is quarantined. `flood`: it reports too many moves of tokens. `failing`: calls that read it use too much gas or answer too many bytes.",
      ),
    as_of_block: z.int().nonnegative().nullable().describe("Last block whose transfers are stored. null: none is."),
    until: time.nullable().describe("When the quarantine ends and the contract is tried again."),
    followed_at: time.describe("When the app began to follow it."),
  })
  .meta({ id: "FollowedContract" });

const contractsPage = z
  .object({ contracts: pageSchema(followedContract), ...pageFrameFields })
  .meta({ id: "ContractsPage" });

const endedContract = z.object({}).meta({ id: "EndedContract" });

const listContracts = defineEndpoint({
  method: "get",
  path: "/contracts",
  summary: "List the contracts of others that the app follows",
  name: "listContracts",
  description:
    "The app follows a contract that it has adopted, or named in a transfer, or in a call for a wallet's tokens with the scope `contracts`. A contract that floods or keeps failing is quarantined for a time; afterwards everything is read again.",
  examples: { answer: { contracts: [contractExample], ...pageExample } },
  scope: "contracts",
  query: longPageQuery,
  response: contractsPage,
  handle: async (deps, { appId, query }) => {
    const page = await listFollowedContracts(deps.database.read, appId, readPage(query, "contracts"));
    return pageAnswer(page, "contracts", "contracts", page.items.map(showFollowed));
  },
});

const deleteContract = defineEndpoint({
  method: "delete",
  path: "/contracts/:address",
  summary: "Stop following a contract",
  name: "deleteContract",
  description:
    "The contract's tokens leave the lists of the app's wallets; what happened before stays in their histories. A contract that the app has adopted stays (404). Naming the contract again follows it again.",
  examples: { answer: {} },
  scope: "contracts",
  params: addressParams,
  response: endedContract,
  errors: ["not_found"],
  handle: async (deps, { appId, params }) => {
    if (!(await unfollowContract(deps, appId, params.address))) throw new ApiError("not_found");
    return {};
  },
});

export const CONTRACTS = [listContracts, deleteContract];
