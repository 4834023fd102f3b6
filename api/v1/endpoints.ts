import type { Endpoint } from "./endpoint.ts";
import { ACCOUNTS } from "./endpoints/accounts.ts";
import { TOKENS } from "./endpoints/api-tokens.ts";
import { BURNS } from "./endpoints/burns.ts";
import { ADOPTIONS } from "./endpoints/adoptions.ts";
import { COLLECTIONS } from "./endpoints/collections.ts";
import { CONTRACTS } from "./endpoints/contracts.ts";
import { EXPORTS } from "./endpoints/exports.ts";
import { listEvents } from "./endpoints/events.ts";
import { uploadMedia } from "./endpoints/media.ts";
import { MINTS } from "./endpoints/nfts.ts";
import { OPERATOR } from "./endpoints/operator.ts";
import { checkReceivers } from "./endpoints/receivers.ts";
import { REQUESTS } from "./endpoints/requests.ts";
import { SESSIONS } from "./endpoints/sessions.ts";
import { getSummary } from "./endpoints/summary.ts";
import { TRANSFERS } from "./endpoints/transfers.ts";
import { getUsage } from "./endpoints/usage.ts";
import { WEBHOOKS } from "./endpoints/webhooks.ts";

/** Every endpoint under `/v1`. If two paths match a call, the first one in this list answers. */
export const ENDPOINTS: Endpoint[] = [
  ...ACCOUNTS,
  ...ADOPTIONS,
  ...COLLECTIONS,
  uploadMedia,
  ...MINTS,
  ...TRANSFERS,
  ...BURNS,
  checkReceivers,
  ...CONTRACTS,
  ...REQUESTS,
  ...WEBHOOKS,
  listEvents,
  ...EXPORTS,
  getUsage,
  getSummary,
  ...SESSIONS,
  ...TOKENS,
  ...OPERATOR,
];
