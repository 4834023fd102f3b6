import { answerOf } from "../../../../api/client/client.ts";
import { check } from "../check.ts";
import type { Tour } from "../tour.ts";
import type { Wallets } from "./wallets.ts";

const MINTS = 100;
/** Enough on an idle machine. */
const EXPECTED_TRANSACTIONS = 3;
/** On a busy machine calls arrive more slowly, so fewer share a transaction. More than this is a failure. */
const MOST_TRANSACTIONS = 20;

/** Sends many calls at once. The service puts requests that arrive together into one transaction. */
export async function mintBurst(tour: Tour, collection: string, { alice }: Wallets): Promise<void> {
  const { api, requests, report } = tour;
  report.step(`Mint ${MINTS} tokens for tour-alice with ${MINTS} calls at once`);
  const started = performance.now();
  const progress = report.progress("minted", MINTS);
  const mint = async (number: number) => {
    const body = {
      collection_address: collection,
      to_address: alice,
      name: "Cat {token_id}",
      unlockable_content: `The secret of mint number ${number}`,
    };
    const { request_id: requestId } = await answerOf(api.POST("/v1/nfts", { body }));
    const completed = await requests.completed(requestId);
    progress.advance();
    return completed;
  };
  const minted = await Promise.all(Array.from({ length: MINTS }, (_, index) => mint(index + 1))).finally(() =>
    progress.end(),
  );
  const seconds = ((performance.now() - started) / 1000).toFixed(1);

  report.line(`requests    ${minted[0]?.requestId ?? ""} and ${MINTS - 1} more, in ${seconds} s`);
  const transactions = new Set(minted.map(({ transaction }) => transaction));
  for (const transaction of transactions) {
    report.line(`transaction ${transaction} (${requests.sharing(transaction)} requests)`);
  }
  const tokenIds = minted.map(({ tokenId }) => Number(tokenId)).sort((a, b) => a - b);
  check(
    tokenIds.every((tokenId, index) => tokenId === index + 1),
    `the token ids are not 1 to ${MINTS}`,
  );
  const { collections } = await answerOf(api.GET("/v1/collections"));
  const count = collections.find(({ address }) => address === collection)?.minted;
  check(count === MINTS, `the collection has ${count ?? "no"} tokens`);
  if (transactions.size > EXPECTED_TRANSACTIONS) {
    report.line(`${transactions.size} transactions instead of at most ${EXPECTED_TRANSACTIONS}: the machine is busy`);
  }
  check(transactions.size <= MOST_TRANSACTIONS, `${MINTS} mints took ${transactions.size} transactions`);
}
