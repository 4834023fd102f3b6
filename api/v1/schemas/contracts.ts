import { z } from "zod";

import { CONTRACT_STATES, QUARANTINE_REASONS } from "../../domain/followed-contract.ts";
import { address, collectionType, time } from "./outputs.ts";
import { pageFrameFields, pageOf } from "./pages.ts";

export const followedContract = z
  .object({
    address,
    type: collectionType.nullable().meta({ description: "null until the service has asked the contract." }),
    name: z.string().nullable().meta({ description: "null when the contract tells no name." }),
    state: z.enum(CONTRACT_STATES).meta({
      description:
        "- `checking`: the service has not yet asked the contract for its type.\n- `followed`: its transfers are followed.\n- `quarantined`: it is left alone until `until`, for the reason in `reason`.\n- `unsupported`: it is no ERC721 or ERC1155 contract.",
    }),
    reason: z.enum(QUARANTINE_REASONS).nullable().meta({
      description:
        "Why it is quarantined. `flood`: it emits too many transfer events. `failing`: calls that read it use too much gas or answer too many bytes.",
    }),
    as_of_block: z
      .int()
      .nonnegative()
      .nullable()
      .meta({ description: "Last block whose transfers are stored. null: none is." }),
    until: time.nullable().meta({ description: "When the quarantine ends and the contract is tried again." }),
    followed_at: time.meta({ description: "When the app began to follow it." }),
  })
  .meta({ id: "FollowedContract" });

export const contractsPage = z
  .object({ contracts: pageOf(followedContract), ...pageFrameFields })
  .meta({ id: "ContractsPage" });

export const endedContract = z.object({}).meta({ id: "EndedContract" });
