import { MAX_PAGE_BYTES } from "../../../../api/config/limits.ts";
import { seriesSpan } from "../../../../api/domain/series.ts";
import type { PageQuery } from "../../../../api/store/db/pages.ts";
import {
  findCollection,
  findCollectionOfApp,
  findCollectionsOfApps,
  listCollections,
  searchCollections,
  storeVerified,
  unverifiedCollections,
} from "../../../../api/store/listings/collections.ts";
import {
  exportHoldings,
  exportMedia,
  exportUnlockable,
  exportWallets,
} from "../../../../api/store/listings/exports.ts";
import { exportHistory, listTokenHistory, listWalletHistory } from "../../../../api/store/listings/history.ts";
import { isHeld, listContents, listHolders } from "../../../../api/store/listings/holdings.ts";
import {
  findMintedNft,
  mayBeMinted,
  findNft,
  listNfts,
  listSomeNfts,
  searchNfts,
  withLargeMetadata,
} from "../../../../api/store/listings/nfts.ts";
import { readSummary } from "../../../../api/store/listings/summary.ts";
import { readSeries } from "../../../../api/store/listings/series.ts";
import { findTransferSources } from "../../../../api/store/listings/transfer-source.ts";
import { readUsageOfApps } from "../../../../api/store/listings/usage.ts";
import { listWallets, searchWallets } from "../../../../api/store/apps/wallets.ts";
import { findDelivery, listDeliveries, newestDeliveries } from "../../../../api/store/outbox/deliveries.ts";
import { eventsAfter, feedPages, newestPositions } from "../../../../api/store/outbox/feed.ts";
import { findRequest, findRequests, hasRequests, listRequests } from "../../../../api/store/requests/requests.ts";
import { BUSY, LARGE } from "../support/large-database.ts";
import { PAGES, type Tour } from "./tour.ts";

/** Every listing of the API with its filters, by a name for reports. */
export function listings({ read }: Tour): Map<string, (page: PageQuery) => Promise<unknown>> {
  const { app, wallet, collection, editions, token: tokenId, reference } = BUSY;
  const token = { contract: editions, tokenId };
  const requests = ([null, "pending"] as const).flatMap((status) =>
    ([null, "mint"] as const).map((type) => ({ status, type })),
  );
  return new Map<string, (page: PageQuery) => Promise<unknown>>([
    ...(["oldest", "newest"] as const).flatMap((order) => [
      [`wallets, ${order} first`, (page: PageQuery) => listWallets(read, app, order, page)] as const,
      [`collections, ${order} first`, (page: PageQuery) => listCollections(read, app, order, page)] as const,
      [`tokens of a collection, ${order} first`, (page: PageQuery) => listNfts(read, collection, order, page)] as const,
    ]),
    ...requests.map(
      (filter) =>
        [
          `requests, oldest first, status ${filter.status ?? "any"}, type ${filter.type ?? "any"}`,
          (page: PageQuery) => listRequests(read, app, filter, page, "oldest"),
        ] as const,
    ),
    ["holders of a token", (page) => listHolders(read, editions, tokenId, page)],
    ["history of a wallet", (page) => listWalletHistory(read, app, wallet, page)],
    ["history of a token", (page) => listTokenHistory(read, app, token, page)],
    ["contents of a wallet", (page) => listContents(read, wallet, null, page)],
    ["contents, one contract", (page) => listContents(read, wallet, { contract: collection, tokenId: null }, page)],
    ["contents, one token", (page) => listContents(read, wallet, { contract: collection, tokenId: "8" }, page)],
    ...requests.map(
      (filter) =>
        [
          `requests of a transaction, status ${filter.status ?? "any"}, type ${filter.type ?? "any"}`,
          (page: PageQuery) => listRequests(read, app, { ...filter, transactionHash: "hash-7" }, page),
        ] as const,
    ),
    ...requests.map(
      (filter) =>
        [
          `requests with a reference, status ${filter.status ?? "any"}, type ${filter.type ?? "any"}`,
          (page: PageQuery) => listRequests(read, app, { ...filter, reference }, page),
        ] as const,
    ),
    [
      "requests of a transaction with a reference",
      (page) => listRequests(read, app, { status: null, type: null, transactionHash: "hash-7", reference }, page),
    ],
    ...filteredRequests(read),
    ["tokens of an owner", (page) => listSomeNfts(read, collection, { owner: wallet }, page)],
    ["tokens with a trait", (page) => listSomeNfts(read, collection, { trait: "trait-1" }, page)],
    ["deliveries", (page) => listDeliveries(read, { id: app, app_id: app }, page)],
    ...requests.map(
      (filter) =>
        [
          `requests, status ${filter.status ?? "any"}, type ${filter.type ?? "any"}`,
          (page: PageQuery) => listRequests(read, app, filter, page),
        ] as const,
    ),
  ]);
}

/** Listings of requests with other filters than those above. */
function filteredRequests(read: Tour["read"]) {
  const { app, wallet, collection, reference } = BUSY;
  const keys = [
    { wallet },
    { collection },
    { wallet, collection },
    { reference, wallet },
    { transactionHash: "hash-7", wallet },
  ];
  return keys.flatMap((key) =>
    ([null, "pending"] as const).flatMap((status) =>
      ([null, "mint"] as const).map((type) => {
        const filter = { status, type, ...key };
        const list = (page: PageQuery) => listRequests(read, app, filter, page);
        return [`requests, ${JSON.stringify(filter)}`, list] as const;
      }),
    ),
  );
}

export async function runListings(tour: Tour): Promise<void> {
  const { read, write } = tour;
  const { app, wallet, collection } = BUSY;
  for (const list of listings(tour).values()) for (const page of PAGES) await list(page);
  const large = { contract: collection, tokenId: "8", metadata: null, metadataBytes: MAX_PAGE_BYTES };
  for (const page of PAGES) await withLargeMetadata(read, [large], page);
  for (const tokenId of ["7", "none"]) {
    await listContents(read, wallet, { contract: collection, tokenId }, { limit: 30, offset: 0, after: null });
  }
  // The second page is that after a row.
  const { editions } = BUSY;
  const tokens = [exportHoldings(read, app, editions), exportHistory(read, app, editions)];
  const ofApp = [exportWallets(read, app), exportMedia(read, app), exportUnlockable(read, app)];
  for (const pages of [...tokens, ...ofApp]) {
    for (const _ of [1, 2]) await pages.next();
  }
  await findCollection(read, collection);
  for (const search of ["user-1", "\u{10FFFF}"]) {
    await searchWallets(read, app, search, 30);
    await searchCollections(read, app, search, 30);
    await searchNfts(read, collection, search, 30);
  }
  await findCollectionOfApp(read, app, collection);
  await findCollectionsOfApps(read, [{ appId: app, address: collection }]);
  await findNft(read, collection, "7");
  await findMintedNft(read, collection, "7");
  await mayBeMinted(read, { address: collection, type: "ERC1155", minted: 0, reserved: 0 }, "7");
  await findTransferSources(read, [{ appId: app, wallet, contract: collection }]);
  await isHeld(read, wallet, collection, "7");
  for (const owner of [null, app]) {
    await findRequest(read, owner, "request-1");
    await findDelivery(read, owner, "delivery-1");
  }
  await findRequests(read, [{ appId: app, id: "request-1" }]);
  await hasRequests(read);
  await readSeries(read, seriesSpan(720, 720 * 3_600_000));
  await readUsageOfApps(read, [app, "other"], { from: 1, to: 30 });
  await readSummary(read, app, 30);
  await unverifiedCollections(read, 0, 30);
  await write((trx) => storeVerified(trx, collection, "match"));
  await eventsAfter(read, { appId: app, after: LARGE / 2 }, 100);
  await newestPositions(read, [app, "other"]);
  await feedPages(
    read,
    [LARGE / 2, LARGE / 3, 0].map((after) => ({ appId: app, after })),
    64,
  );
  for (const status of [null, "pending", "failed"] as const)
    await newestDeliveries(read, { id: app, app_id: app }, { status, limit: 50 });
}
