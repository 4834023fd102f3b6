import { LOCAL_CHAIN_ID } from "../../../api/chain/local-contracts.ts";
import { ChainUnavailable } from "../../../api/chain/errors.ts";
import { Rpc } from "../../../api/chain/rpc.ts";
import { createClient } from "../../../client/client.ts";
import { ApiRefusal, RequestFailed, RequestTimeout } from "../../../client/errors.ts";
import { Problem } from "../problem.ts";
import { Report } from "./report.ts";
import * as steps from "./steps.ts";
import { WebhookReceiver } from "./webhook-receiver.ts";

export interface TourOptions {
  baseUrl: string;
  token: string;
  rpcUrl: string;
  /** Whether to show each request and transaction. */
  verbose: boolean;
  signal: AbortSignal;
}

/**
 * Shows the main job step by step. The tour works like any app: over HTTP, with a token.
 * @throws Problem when the service does something else than expected.
 */
export async function runTour({ baseUrl, token, rpcUrl, verbose, signal }: TourOptions): Promise<void> {
  const api = createClient({ baseUrl, token, signal });
  const webhooks = await WebhookReceiver.listen();
  const report = new Report(process.stdout, verbose);
  try {
    const tour: steps.Tour = { baseUrl, api, webhooks, report, requests: [], rpcUrl, signal };
    await steps.registerWebhook(tour);
    const wallets = await steps.createWallets(tour);
    const collection = await steps.createErc721(tour, wallets);
    const cats = await steps.mintPictures(tour, collection, wallets);
    await steps.createErc1155(tour, wallets);
    await steps.mintBurst(tour, collection, wallets, cats);
    await steps.transferOne(tour, collection, wallets);
    await steps.moveUnlockableContent(tour, collection, wallets);
    await steps.transferForeignTokens(tour, wallets);
    await steps.checkWebhooks(tour);
  } catch (error) {
    const plain = [ApiRefusal, RequestFailed, RequestTimeout].some((kind) => error instanceof kind);
    throw plain ? new Problem(`The tour failed: ${(error as Error).message}`, { cause: error }) : error;
  } finally {
    report.end();
    await webhooks.close();
  }
}

/**
 * The tour with a service and a local chain that run already.
 * @throws Problem when the user can correct it.
 */
export async function runTourAlone(options: TourOptions): Promise<void> {
  const { token, rpcUrl, baseUrl } = options;
  if (token === "")
    throw new Problem(
      "The tour needs the token of an app: npm run tour -- <token>. Create one with `npm run cli -- app create my-app`.",
    );
  // The tour spends coins of the accounts that every local chain has.
  const chainId = await new Rpc(rpcUrl).call("eth_chainId", []).catch((error: unknown) => {
    if (!(error instanceof ChainUnavailable)) throw error;
    throw new Problem(`No chain answers at ${rpcUrl}. Start one with \`npm run chain\`, or set RPC_URL.`);
  });
  if (BigInt(String(chainId)) !== LOCAL_CHAIN_ID)
    throw new Problem(`The tour is for a local chain (chain id ${LOCAL_CHAIN_ID}). ${rpcUrl} is another one.`);
  await fetch(new URL("/healthz", baseUrl)).catch(() => {
    throw new Problem(`No service answers at ${baseUrl}. Start it with \`npm run api\`, or set MONETA_URL.`);
  });
  await runTour(options);
}
