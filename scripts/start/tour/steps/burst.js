import { answerOf } from "../../../../client/client.ts";
import { check } from "../check.ts";
import { CATS } from "../pictures/cats.ts";
const MINTS = 100;
/** How many share a transaction depends on how fast calls arrive and blocks come. More transactions than this are a failure. */
const MOST_TRANSACTIONS = MINTS / 2;
/** Sends many calls at once. The service puts requests that arrive together into one transaction. */
export async function mintBurst(tour, collection, { alice }, cats) {
    const { api, requests, report } = tour;
    report.step(`Mint ${MINTS} tokens for tour-alice with ${MINTS} calls at once`);
    const started = performance.now();
    const progress = report.progress("minted", MINTS);
    const mint = async (number) => {
        // The service hosts these pictures already, so nothing is copied.
        const { image, attributes } = cats[number % cats.length] ?? {};
        const body = {
            collection_address: collection,
            to_address: alice,
            name: "Cat {token_id}",
            ...(image === undefined ? {} : { image }),
            ...(attributes === undefined ? {} : { attributes }),
            unlockable_content: `The secret of mint number ${number}`,
        };
        const { request_id: requestId } = await answerOf(api.POST("/v1/nfts", { body }));
        const completed = await requests.completed(requestId);
        progress.advance();
        return completed;
    };
    const minted = await Promise.all(Array.from({ length: MINTS }, (_, index) => mint(index + 1))).finally(() => progress.end());
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const transactions = new Set(minted.map(({ transaction }) => transaction));
    report.result(`done in ${seconds} s, with ${transactions.size} transactions`);
    report.shared(minted, requests);
    const tokenIds = minted.map(({ tokenId }) => Number(tokenId)).sort((a, b) => a - b);
    check(tokenIds.every((tokenId, index) => tokenId === CATS + index + 1), `the token ids are not ${CATS + 1} to ${CATS + MINTS}`);
    const { collections } = await answerOf(api.GET("/v1/collections"));
    const count = collections.find(({ address }) => address === collection)?.minted;
    check(count === CATS + MINTS, `the collection has ${count ?? "no"} tokens`);
    check(transactions.size <= MOST_TRANSACTIONS, `${MINTS} mints took ${transactions.size} transactions`);
}
