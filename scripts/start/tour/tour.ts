import type { ApiClient } from "./api-client.ts";
import type { Accepted, HeldNft } from "./answers.ts";
import type { Report } from "./report.ts";
import type { Completed, Requests } from "./requests.ts";
import type { WebhookReceiver } from "./webhook-receiver.ts";

/** What every step works with. */
export interface Tour {
  api: ApiClient;
  webhooks: WebhookReceiver;
  requests: Requests;
  report: Report;
  /** The chain, for what happens outside the service. */
  rpcUrl: string;
  /** Aborted when everything is to stop. */
  signal: AbortSignal;
}

/** Posts what ends on the chain, waits until it has, and says so. */
export async function complete({ api, requests, report }: Tour, path: string, body: unknown): Promise<Completed> {
  const { request_id: requestId } = await api.post<Accepted>(path, body);
  const completed = await requests.completed(requestId);
  report.completed(completed, requests.sharing(completed.transaction));
  return completed;
}

/** A token as a wallet that holds it sees it; undefined when the wallet does not hold it. */
export async function held(
  { api }: Tour,
  wallet: string,
  contract: string,
  tokenId: string | number,
): Promise<HeldNft | undefined> {
  const { nfts } = await api.get<{ nfts: HeldNft[] }>(`/v1/accounts/${wallet}/${contract}/${tokenId}`);
  return nfts[0];
}
