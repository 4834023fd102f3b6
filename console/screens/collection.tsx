import { useEffect, useRef, useState } from "preact/hooks";

import { answerOf, type Shape } from "../../client/client.ts";
import { Badge } from "../parts/badge.tsx";
import { Address } from "../parts/copyable.tsx";
import { CursorList } from "../parts/cursor-list.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Facts } from "../parts/facts.tsx";
import { Loading } from "../parts/loading.tsx";
import { LongText } from "../parts/long-text.tsx";
import { Holder } from "../parts/named.tsx";
import { OrderChoice } from "../parts/order.tsx";
import { Picture } from "../parts/picture.tsx";
import { Screen } from "../parts/screen.tsx";
import { TokenTiles } from "../parts/token-tile.tsx";
import { WebLink } from "../parts/web-link.tsx";
import { client } from "../service/client.ts";
import { closedBecause, readCollection } from "../service/collections.ts";
import { explorerLink } from "../service/links.ts";
import { useLive } from "../service/live.ts";
import type { Order } from "../service/order.ts";
import { mayUse } from "../service/session.ts";
import { useData, usePages } from "../service/use-data.ts";
import { href, type ScreenProps } from "../shell/href.ts";
import { CollectionOffers } from "../write/offers.tsx";
import { RescueReport } from "./rescue-report.tsx";
import { filterQuery, NoneFound, readFilter, type TokenFilter, TokenFilters } from "./token-filters.tsx";

const LIMIT = 24;

/** A collection: what it is, and its tokens as pictures. Links may name an owner or a trait. */
export function CollectionScreen({ params: { address, ...others } }: ScreenProps<"address">) {
  const collection = useData(() => readCollection(address), []);
  const { data } = collection;
  useWhileReading(isChanging(data?.adopted ?? null), collection.reload);
  return (
    <Screen
      title={data?.name ?? "Collection"}
      actions={data === null ? undefined : <CollectionOffers collection={data} />}
      trail={
        <>
          <a href={href("/collections")}>Collections</a>
          <span aria-hidden="true">/</span>
          <bdi>{data?.name ?? address}</bdi>
        </>
      }
    >
      {collection.error !== null && <ErrorNote error={collection.error} retry={collection.reload} />}
      {data === null && collection.loading && <Loading />}
      {data !== null && <CollectionFacts collection={data} />}
      {data !== null && <RescueReport collection={data} />}
      {data !== null && <Tokens collection={data} filter={readFilter(others)} onMinted={collection.reload} />}
    </Screen>
  );
}

/** Milliseconds between two looks at an adopted contract that is being read. */
const LOOK = 3_000;
/** Milliseconds after which a copy of the metadata that has stored nothing more was probably interrupted. */
const INTERRUPTED = 120_000;

/** Whether an adopted contract is being read, or its metadata copied. */
function isChanging(adopted: Shape<"Collection">["adopted"]): boolean {
  const { state, rescue = null } = adopted ?? {};
  return (
    state === "reading" || (rescue !== null && !rescue.finished && Date.now() - Date.parse(rescue.at) < INTERRUPTED)
  );
}

function useWhileReading(isReading: boolean, look: () => void): void {
  const latest = useRef(look);
  latest.current = look;
  useEffect(() => {
    if (!isReading) return undefined;
    const timer = setInterval(() => {
      latest.current();
    }, LOOK);
    return () => {
      clearInterval(timer);
    };
  }, [isReading]);
}

function CollectionFacts({ collection }: { collection: Shape<"Collection"> }) {
  const { address, name, symbol, type, hosting, minted, mint_supply_count: cap, owner, soulbound } = collection;
  const { copies, metadata_frozen: frozen, seller_fee_basis_points: fee, fee_recipient: recipient } = collection;
  return (
    <section class="detail detail-small card" aria-label="About the collection">
      <Picture source={collection.image} label={`Picture of ${name}`} seed={address} eager />
      <div class="stack">
        {typeof collection.description === "string" && collection.description !== "" && (
          <LongText label="Description" text={collection.description} />
        )}
        <div class="actions">
          <Badge>{type}</Badge>
          <Badge>{hosting === "hosted" ? "Hosted" : "Self-hosted"}</Badge>
          {collection.adopted !== null && <Badge>Adopted</Badge>}
          {soulbound && <Badge kind="warning">Soulbound</Badge>}
          {frozen !== "no" && <Badge>{frozen === "yes" ? "Metadata frozen" : "Metadata being frozen"}</Badge>}
          {collection.royalty_frozen === true && <Badge>Royalty frozen</Badge>}
        </div>
        <Facts
          facts={[
            ["Stored", progressOf(collection)],
            ["Symbol", <bdi key="symbol">{symbol}</bdi>],
            [
              "Requests",
              <a key="requests" href={href("/requests/collection/:collection", { collection: address })}>
                Show them
              </a>,
            ],
            ["Minted", cap === null ? `${minted.toString()}, no limit` : `${minted.toString()} of ${cap.toString()}`],
            ["Copies", copies === undefined ? null : copies.toString()],
            ["Contract", <Address key="contract" value={address} link={explorerLink({ address })} />],
            ["Sources", sourcesOf(collection)],
            [
              "Owner",
              <Address
                key="owner"
                value={owner}
                what="the address of the owner"
                link={explorerLink({ address: owner })}
              />,
            ],
            [
              "Royalty",
              recipient == null || fee == null || fee === 0 ? null : (
                <span key="royalty">
                  {(fee / 100).toString()} % to <Holder address={recipient} what="the address that gets the royalty" />
                </span>
              ),
            ],
            [
              "Website",
              typeof collection.external_link === "string" ? <WebLink address={collection.external_link} /> : null,
            ],
          ]}
        />
      </div>
    </section>
  );
}

/** How far an adopted contract is stored; null: completely. */
function progressOf({ adopted }: Shape<"Collection">): string | null {
  if (adopted === null || adopted.state === "followed") return null;
  const blocks = `up to block ${adopted.as_of_block.toString()} of ${adopted.to_block.toString()}`;
  return adopted.state === "reading"
    ? `${blocks}, being read`
    : `${blocks}; the contract floods and is read further later`;
}

const SOURCES = {
  exact: "Verified (exact match)",
  match: "Verified",
  implementation: "Verified (implementation)",
  failed: "Not verified",
} as const;

/** What the verifier said of the contract, with a link to its code. null: nothing yet. */
function sourcesOf({ address, verified }: Shape<"Collection">) {
  if (verified === null) return null;
  const page = verified === "failed" ? null : explorerLink({ address });
  if (page === null) return SOURCES[verified];
  return (
    <WebLink key="sources" address={`${page}#code`}>
      {SOURCES[verified]}
    </WebLink>
  );
}

function NoTokens({ collection }: Pick<TokensProps, "collection">) {
  const closed = closedBecause(collection);
  return (
    <EmptyState title="No tokens yet">
      {closed === null && mayUse("mint") ? (
        <a class="button button-primary" href={href("/collections/:address/mint", { address: collection.address })}>
          Mint the first token
        </a>
      ) : (
        (closed ?? "This session does not have the scope mint.")
      )}
    </EmptyState>
  );
}

interface TokensProps {
  collection: Shape<"Collection">;
  filter: TokenFilter;
  onMinted: () => void;
}

function Tokens({ collection, filter, onMinted }: TokensProps) {
  const { address } = collection;
  const [order, setOrder] = useState<Order>("oldest");
  const only = filterQuery(filter);
  const isWhole = Object.keys(only).length === 0;
  const pages = usePages(
    async (cursor) => {
      const query = { limit: LIMIT, ...(isWhole ? { order } : only), ...(cursor === undefined ? {} : { cursor }) };
      const params = { path: { address }, query };
      const { nfts, next } = await answerOf(client().GET("/v1/collections/{address}", { params }));
      return { items: nfts, next };
    },
    [order],
  );
  // A mint, burn or change of metadata of this collection has completed.
  useLive((event) => {
    if (event.type !== "completed" || event.nft_collection !== address) return;
    pages.reload();
    onMinted();
  });
  return (
    <section class="stack" aria-label="Tokens">
      <div class="screen-head">
        <h2>Tokens</h2>
        {isWhole && pages.items.length > 1 && <OrderChoice order={order} onChange={setOrder} />}
      </div>
      <TokenFilters collection={collection} filter={filter} />
      <CursorList pages={pages} empty={isWhole ? <NoTokens collection={collection} /> : <NoneFound filter={filter} />}>
        {(tokens) => <TokenTiles tokens={tokens} />}
      </CursorList>
    </section>
  );
}
