import { z } from "zod";

import { CONDITIONS } from "../../domain/conditions.ts";
import { MOST_COUNTED } from "../../store/db/pages.ts";
import { address, time, wei } from "./outputs.ts";

const count = z.int().nonnegative();
const seconds = z.number().nonnegative();
const upTo = `Counted up to ${MOST_COUNTED.toLocaleString("en")}.`;

const lane = z.object({
  lane: count.meta({ description: "Number of the lane." }),
  address: address.meta({ description: "Send the chain's own currency to this address." }),
  in_use: z
    .boolean()
    .meta({ description: "false: a lane of earlier settings, which only finishes what it has begun." }),
  balance_wei: wei.nullable().meta({ description: "null while the node does not answer." }),
  spent_24h_wei: wei.nullable().meta({
    description: "What its transactions of the last 24 hours cost. null: not known, or the lane is not in use.",
  }),
  days_left: z
    .number()
    .nonnegative()
    .nullable()
    .meta({ description: "For how many days the balance lasts at this rate. null: nothing was spent, or not known." }),
  low_funds: z
    .boolean()
    .nullable()
    .meta({ description: "Whether it cannot pay for ten full batches at the present fees. null: not known." }),
  oldest_unmined_seconds: seconds
    .nullable()
    .meta({ description: "Age of its oldest transaction that no block contains. null: there is none." }),
});

export const operatorStatus = z.object({
  ready: z.boolean().meta({ description: "Whether the process that answers can work, as `/readyz` says." }),
  checks: z
    .record(z.string(), z.string())
    .meta({ description: "The checks of `/readyz` in this process: `ok`, or what is wrong, in detail." }),
  backlog: z
    .object({
      media: count.meta({ description: "Requests that wait for their media." }),
      pending: count.meta({ description: "Requests that wait to be sent." }),
      processing: count.meta({ description: "Requests whose transaction was sent." }),
    })
    .meta({ description: "Requests of all apps that are not final." }),
  oldest_pending_seconds: seconds
    .nullable()
    .meta({ description: "How long the oldest request that waits to be sent has waited. null: none waits." }),
  indexer: z
    .object({
      checkpoint: z.int().meta({ description: "The last block that the indexer processed." }),
      head: count.nullable().meta({ description: "The node's newest block. null while the node does not answer." }),
      lag_blocks: count.nullable().meta({ description: "Blocks that the indexer has not processed yet." }),
    })
    .meta({ description: "How far the indexer is behind the node." }),
  deliveries: z
    .object({
      waiting: count.meta({ description: `Webhook deliveries with tries left. ${upTo}` }),
      dead: count.meta({ description: `Webhook deliveries that failed for good. ${upTo}` }),
      oldest_overdue_seconds: seconds
        .nullable()
        .meta({ description: "How long the most overdue delivery should have been sent. null: none is overdue." }),
    })
    .meta({ description: "Webhook deliveries of all apps." }),
  lanes: z.array(lane).meta({ description: "Every lane, with its funds." }),
  relay_paused: z.boolean().nullable().meta({ description: "Whether the relay is paused. null: not known." }),
  quarantined_contracts: count.meta({ description: "Contracts of others that are left alone for some time." }),
  processes: z
    .object({
      api: count.meta({ description: "Processes with the role `api`." }),
      relayer: count.meta({ description: "Processes with the role `relayer`." }),
      other: count.meta({ description: "Processes with neither of these roles." }),
    })
    .meta({ description: "Running processes of the service. One with the roles `api` and `relayer` counts twice." }),
});

const result = z.enum(["ok", "warning", "problem"]);

export const doctorReport = z.object({
  result: result.meta({ description: "The worst of the findings." }),
  findings: z
    .array(
      z.object({
        check: z.string().meta({ description: "Name of the check." }),
        result: result.meta({ description: "How serious it is." }),
        words: z.string().meta({ description: "What was found, and what to do." }),
        condition: z
          .enum(CONDITIONS)
          .nullable()
          .meta({ description: "The name of this state in the log and in `/metrics`." }),
      }),
    )
    .meta({ description: "One or more for each check, in the order of the checks." }),
  checked_at: time.meta({ description: "When the checks began." }),
});
