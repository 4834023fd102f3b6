import type { Endpoint } from "./endpoint.ts";
import {
  changeCollection,
  changeToken,
  createCollection,
  freezeCollection,
  getNft,
  listCollections,
  listNfts,
  listTokenHistory,
} from "./endpoints/collections.ts";
import {
  createAccount,
  getAccountOfUser,
  listAccounts,
  listContents,
  listContentsOfContract,
  listContentsOfToken,
  listWalletHistory,
} from "./endpoints/accounts.ts";
import { createConsoleSession, deleteConsoleSession, getConsoleSession } from "./endpoints/sessions.ts";
import { createToken, deleteToken, listTokens } from "./endpoints/api-tokens.ts";
import {
  deleteWebhook,
  getWebhook,
  getDelivery,
  listDeliveries,
  putWebhook,
  redeliver,
  redeliverFailed,
  rotateWebhookSecret,
  testWebhook,
} from "./endpoints/webhook.ts";
import { getRequest, listRequests } from "./endpoints/requests.ts";
import { checkReceivers } from "./endpoints/receivers.ts";
import { getSummary } from "./endpoints/summary.ts";
import { getUsage } from "./endpoints/usage.ts";
import { deleteContract, listContracts } from "./endpoints/contracts.ts";
import { listEvents } from "./endpoints/events.ts";
import { mintNft, mintNfts } from "./endpoints/nfts.ts";
import {
  createOperatorApp,
  operatorApps,
  operatorDoctor,
  operatorSeries,
  operatorStatus,
} from "./endpoints/operator.ts";
import { burnNft, burnNfts } from "./endpoints/burns.ts";
import { transferNft, transferNfts } from "./endpoints/transfers.ts";
import { uploadMedia } from "./endpoints/media.ts";

/** Every endpoint under `/v1`. If two paths match a call, the first one in this list answers. */
export const ENDPOINTS: Endpoint[] = [
  createAccount,
  listAccounts,
  getAccountOfUser,
  listWalletHistory,
  listContents,
  listContentsOfContract,
  listContentsOfToken,
  createCollection,
  listCollections,
  listNfts,
  changeCollection,
  freezeCollection,
  getNft,
  changeToken,
  listTokenHistory,
  uploadMedia,
  mintNft,
  mintNfts,
  transferNft,
  transferNfts,
  burnNft,
  burnNfts,
  checkReceivers,
  listContracts,
  deleteContract,
  listRequests,
  getRequest,
  putWebhook,
  getWebhook,
  deleteWebhook,
  testWebhook,
  rotateWebhookSecret,
  listDeliveries,
  redeliverFailed,
  getDelivery,
  redeliver,
  listEvents,
  getUsage,
  getSummary,
  createConsoleSession,
  getConsoleSession,
  deleteConsoleSession,
  listTokens,
  createToken,
  deleteToken,
  operatorApps,
  createOperatorApp,
  operatorStatus,
  operatorDoctor,
  operatorSeries,
];
