import { answerOf } from "../../../client/client.ts";
/** Waits until the request of an accepted call is completed, and reports it. */
export async function complete({ requests, report }, call) {
    const { request_id: requestId } = await answerOf(call);
    const completed = await requests.completed(requestId);
    report.completed(completed, requests.sharing(completed.transaction));
    return completed;
}
/** A token as a wallet that holds it sees it; undefined when the wallet does not hold it. */
export async function held({ api }, wallet, contract, tokenId) {
    const path = { address: wallet, contract_address: contract, token_id: tokenId };
    const { nfts } = await answerOf(api.GET("/v1/accounts/{address}/{contract_address}/{token_id}", { params: { path } }));
    return nfts[0];
}
