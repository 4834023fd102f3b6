import type { Limits } from "../config/limits.ts";
import type { Endpoint } from "./endpoint.ts";
import { changeCollection } from "./endpoints/change-collection.ts";
import { changeToken } from "./endpoints/change-token.ts";
import { createAccount } from "./endpoints/create-account.ts";
import { createCollection } from "./endpoints/create-collection.ts";
import { createConsoleSession } from "./endpoints/create-console-session.ts";
import { deleteConsoleSession } from "./endpoints/delete-console-session.ts";
import { createToken } from "./endpoints/create-token.ts";
import { deleteToken } from "./endpoints/delete-token.ts";
import { deleteWebhook } from "./endpoints/delete-webhook.ts";
import { freezeCollection } from "./endpoints/freeze-collection.ts";
import { getAccountOfUser } from "./endpoints/get-account-of-user.ts";
import { getConsoleSession } from "./endpoints/get-console-session.ts";
import { getNft } from "./endpoints/get-nft.ts";
import { getRequest } from "./endpoints/get-request.ts";
import { getUsage } from "./endpoints/get-usage.ts";
import { getWebhook } from "./endpoints/get-webhook.ts";
import { listAccounts } from "./endpoints/list-accounts.ts";
import { listCollections } from "./endpoints/list-collections.ts";
import { deleteContract } from "./endpoints/delete-contract.ts";
import { listContentsOfContract } from "./endpoints/list-contents-of-contract.ts";
import { listContentsOfToken } from "./endpoints/list-contents-of-token.ts";
import { listContents } from "./endpoints/list-contents.ts";
import { listContracts } from "./endpoints/list-contracts.ts";
import { listDeliveries } from "./endpoints/list-deliveries.ts";
import { listEvents } from "./endpoints/list-events.ts";
import { listNfts } from "./endpoints/list-nfts.ts";
import { listRequests } from "./endpoints/list-requests.ts";
import { listTokenHistory } from "./endpoints/list-token-history.ts";
import { listTokens } from "./endpoints/list-tokens.ts";
import { listWalletHistory } from "./endpoints/list-wallet-history.ts";
import { mintNft } from "./endpoints/mint-nft.ts";
import { mintNfts } from "./endpoints/mint-nfts.ts";
import { operatorApps } from "./endpoints/operator-apps.ts";
import { operatorDoctor } from "./endpoints/operator-doctor.ts";
import { operatorSeries } from "./endpoints/operator-series.ts";
import { operatorStatus } from "./endpoints/operator-status.ts";
import { putWebhook } from "./endpoints/put-webhook.ts";
import { redeliver } from "./endpoints/redeliver.ts";
import { rotateWebhookSecret } from "./endpoints/rotate-webhook-secret.ts";
import { testWebhook } from "./endpoints/test-webhook.ts";
import { transferNft } from "./endpoints/transfer-nft.ts";
import { transferNfts } from "./endpoints/transfer-nfts.ts";
import { uploadMedia } from "./endpoints/upload-media.ts";

/** Every endpoint under `/v1`. If two paths match a call, the first one in this list answers. */
export function endpointsOf(limits: Limits): Endpoint[] {
  return [
    createAccount(limits),
    listAccounts(),
    getAccountOfUser(),
    listWalletHistory(),
    listContents(),
    listContentsOfContract(),
    listContentsOfToken(),
    createCollection(limits),
    listCollections(),
    listNfts(),
    changeCollection(limits),
    freezeCollection(),
    getNft(),
    changeToken(limits),
    listTokenHistory(),
    uploadMedia(),
    mintNft(limits),
    mintNfts(limits),
    transferNft(),
    transferNfts(),
    listContracts(),
    deleteContract(),
    listRequests(),
    getRequest(),
    putWebhook(limits),
    getWebhook(),
    deleteWebhook(),
    testWebhook(),
    rotateWebhookSecret(),
    listDeliveries(),
    redeliver(),
    listEvents(),
    getUsage(),
    createConsoleSession(),
    getConsoleSession(),
    deleteConsoleSession(),
    listTokens(),
    createToken(),
    deleteToken(),
    operatorApps(),
    operatorStatus(),
    operatorDoctor(),
    operatorSeries(),
  ];
}
