import { NAMED_EVENTS } from "../../domain/events.ts";
import { publishedCollectionMetadata } from "../../domain/metadata-files.ts";
import { findWallets } from "../../store/apps/wallets.ts";
import { type Page, type PageQuery, pagesAfter } from "../../store/db/pages.ts";
import type { Db } from "../../store/db/sql.ts";
import { listCollections, type StoredCollection } from "../../store/listings/collections.ts";
import { exportHoldings, exportWallets } from "../../store/listings/exports.ts";
import { exportHistory } from "../../store/listings/history.ts";
import { listNfts } from "../../store/listings/nfts.ts";
import { withUsers } from "../../store/outbox/event-users.ts";
import { eventsAfter } from "../../store/outbox/feed.ts";
import { listRequests } from "../../store/requests/requests.ts";
import { presentExportedHolding, presentExportedWallet } from "../../v1/exports/rows.ts";
import { presentCollection, presentCollectionNft, presentHistoryEntry, presentRequest } from "../../v1/present.ts";
import type { RowFile } from "./manifest.ts";

/** Whose rows, and where from. */
export interface RowSource {
  db: Db;
  appId: string;
  /** Where the service serves metadata. */
  place: { publicUrl: string; chainId: number };
}

type Pages = AsyncIterable<object[]>;

/** The rows of each file, in the form that the API gives them. */
export const ROWS: Readonly<Record<RowFile, (source: RowSource) => Pages>> = {
  wallets: ({ db, appId }) => each(exportWallets(db, appId), presentExportedWallet),
  collections: ({ db, appId, place }) =>
    each(collectionsOf(db, appId), (row) => ({ ...presentCollection(place, row), metadata: documentOf(row) })),
  tokens: (source) =>
    ofCollections(source, ({ address }) =>
      each(
        listed(PAGE, (page) => listNfts(source.db, address, "oldest", page)),
        (nft) => ({
          ...presentCollectionNft(source.place, nft),
          // A copy from elsewhere may have fields that the API does not know.
          ...(nft.hosting !== "hosted" && { metadata: nft.metadata }),
        }),
      ),
    ),
  holders: (source) =>
    ofCollections(source, ({ address }) =>
      each(exportHoldings(source.db, source.appId, address), (holding) => ({
        contract_address: address,
        ...presentExportedHolding(holding),
      })),
    ),
  history: (source) =>
    ofCollections(source, ({ address }) => each(exportHistory(source.db, source.appId, address), presentHistoryEntry)),
  requests: ({ db, appId }) => requestsOf(db, appId),
  events: ({ db, appId }) => {
    const read = (after: number) => eventsAfter(db, { appId, after, types: NAMED_EVENTS }, PAGE);
    return each(
      pagesAfter(0, read, ({ position }) => position),
      ({ body }) => body,
    );
  },
};

/** The metadata of the collection itself, as it is served; null: it is served elsewhere, or nowhere. */
function documentOf(row: StoredCollection): object | null {
  if (row.hosting === "hosted") return publishedCollectionMetadata(row);
  return Object.keys(row.metadata).length === 0 ? null : row.metadata;
}

/** Rows that one statement reads. */
const PAGE = 250;
/** A collection's metadata can be large. */
const FEW = 30;

export function collectionsOf(db: Db, appId: string): AsyncGenerator<StoredCollection[]> {
  return listed(FEW, (page) => listCollections(db, appId, "oldest", page));
}

/** All rows of a listing. */
function listed<Row extends { seq: number }>(limit: number, list: (page: PageQuery) => Promise<Page<Row>>) {
  const read = async (after: number | null) => (await list({ limit, offset: 0, after })).items;
  return pagesAfter<Row, number | null>(null, read, ({ seq }) => seq);
}

async function* requestsOf(db: Db, appId: string): Pages {
  const all = { status: null, type: null, transactionHash: null, reference: null, collection: null, wallet: null };
  for await (const page of listed(PAGE, (part) => listRequests(db, appId, all, part, "oldest"))) {
    const entries = page.map((row) => ({ appId, body: presentRequest(row, null) }));
    yield await withUsers((calls) => findWallets(db, calls), entries);
  }
}

async function* ofCollections({ db, appId }: RowSource, rowsOf: (collection: StoredCollection) => Pages): Pages {
  for await (const page of collectionsOf(db, appId)) for (const collection of page) yield* rowsOf(collection);
}

async function* each<Row>(pages: AsyncIterable<Row[]>, present: (row: Row) => object): Pages {
  for await (const page of pages) yield page.map(present);
}
