import { createClient } from "../../../client/client.ts";
import { ApiRefusal } from "../../../client/errors.ts";
import { TourError } from "./check.ts";
import { Report } from "./report.ts";
import { Requests } from "./requests.ts";
import { mintBurst } from "./steps/burst.ts";
import { createErc1155, createErc721 } from "./steps/collections.ts";
import { transferForeignTokens } from "./steps/foreign.ts";
import { mintPictures } from "./steps/pictures.ts";
import { transferOne } from "./steps/transfer.ts";
import { moveUnlockableContent } from "./steps/unlockable.ts";
import { createWallets } from "./steps/wallets.ts";
import { checkWebhooks, registerWebhook } from "./steps/webhooks.ts";
import { WebhookReceiver } from "./webhook-receiver.ts";
/**
 * Shows the main job step by step. The tour works like any app: over HTTP, with a token.
 * @throws TourError when the service does something else than expected.
 */
export async function runTour({ baseUrl, token, rpcUrl, verbose, signal }) {
    const api = createClient({ baseUrl, token, signal });
    const webhooks = await WebhookReceiver.listen();
    const report = new Report(process.stdout, verbose);
    try {
        const requests = new Requests(api, webhooks, signal);
        const tour = { baseUrl, api, webhooks, requests, report, rpcUrl, signal };
        await registerWebhook(tour);
        const wallets = await createWallets(tour);
        const collection = await createErc721(tour, wallets);
        const cats = await mintPictures(tour, collection, wallets);
        await createErc1155(tour, wallets);
        await mintBurst(tour, collection, wallets, cats);
        await transferOne(tour, collection, wallets);
        await moveUnlockableContent(tour, collection, wallets);
        await transferForeignTokens(tour, wallets);
        await checkWebhooks(tour);
    }
    catch (error) {
        throw error instanceof ApiRefusal
            ? new TourError(`The tour failed, because the API refused a call: ${error.message}`)
            : error;
    }
    finally {
        report.end();
        await webhooks.close();
    }
}
