import { answerOf, type Client, type Shape } from "../../../client/client.ts";
import type { Report } from "./report.ts";
import type { Completed, Requests } from "./requests.ts";
import type { WebhookReceiver } from "./webhook-receiver.ts";

/** What every step uses. */
export interface Tour {
  /** URL of the service. */
  baseUrl: string;
  api: Client;
  webhooks: WebhookReceiver;
  requests: Requests;
  report: Report;
  /** The chain node, for transactions that bypass the service. */
  rpcUrl: string;
  /** Aborted when the program stops. */
  signal: AbortSignal;
}

type AcceptedCall = Promise<{ data?: Shape<"Accepted">; error?: unknown; response: Response }>;

/** Waits until the request of an accepted call is completed, and reports it. */
export async function complete({ requests, report }: Tour, call: AcceptedCall): Promise<Completed> {
  const { request_id: requestId } = await answerOf(call);
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
): Promise<Shape<"HeldNft"> | undefined> {
  const path = { address: wallet, contract_address: contract, token_id: tokenId };
  const { nfts } = await answerOf(
    api.GET("/v1/accounts/{address}/{contract_address}/{token_id}", { params: { path } }),
  );
  return nfts[0];
}
