import { useState } from "preact/hooks";

import { answerOf } from "../../client/client.ts";
import { StateBadge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { CursorList } from "../parts/cursor-list.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { CollectionName } from "../parts/named.tsx";
import { OrderChoice } from "../parts/order.tsx";
import { Screen } from "../parts/screen.tsx";
import { Table } from "../parts/table.tsx";
import { Age, Ether } from "../parts/when.tsx";
import { client } from "../service/client.ts";
import { shortHex } from "../service/format.ts";
import type { Order } from "../service/order.ts";
import { href, type ScreenProps } from "../shell/href.ts";
import { type Query, RequestFilters } from "./request-filters.tsx";
import { SendAgain } from "./request-again.tsx";
import { type Request, shortReason, TYPE_NAMES } from "./request-state.ts";
import { useLiveRequests } from "./use-live-requests.ts";

const FILTERS = [
  [null, "All"],
  ["pending", "Pending"],
  ["processing", "Processing"],
  ["completed", "Completed"],
  ["failed", "Failed"],
] as const;

/** The app's requests, newest first. Events change the rows while they are shown. Links may name a wallet or a collection. */
export function RequestsScreen({ params }: ScreenProps) {
  const { wallet = "", collection = "", state }: Partial<Record<"wallet" | "collection" | "state", string>> = params;
  const [status, setStatus] = useState(() => FILTERS.find(([value]) => value === (state ?? null))?.[0] ?? null);
  const [query, setQuery] = useState<Query>({
    ...(wallet === "" ? {} : { wallet }),
    ...(collection === "" ? {} : { collection }),
  });
  const [order, setOrder] = useState<Order>("newest");
  // The other filters search among the newest requests.
  const inOrder = Object.keys(query).every((name) => name === "type");
  return (
    <Screen title="Requests">
      <RequestFilters first={{ reference: "", wallet, collection, type: "" }} onFind={setQuery} />
      <div class="screen-head">
        <div class="filter" role="group" aria-label="State">
          {FILTERS.map(([value, text]) => (
            <Button key={text} kind="small" aria-pressed={status === value} onClick={() => setStatus(value)}>
              {text}
            </Button>
          ))}
        </div>
        {inOrder && <OrderChoice order={order} onChange={setOrder} />}
      </div>
      <List
        key={JSON.stringify([status, query, order])}
        status={status}
        query={query}
        order={inOrder ? order : "newest"}
      />
    </Screen>
  );
}

interface Filter {
  status: Request["status"] | null;
  query: Query;
  order: Order;
}

function List({ status, query: wanted, order }: Filter) {
  const pages = useLiveRequests(status, async (cursor) => {
    const query = {
      ...wanted,
      order,
      ...(status === null ? {} : { status }),
      ...(cursor === undefined ? {} : { cursor }),
    };
    const { requests, next } = await answerOf(client().GET("/v1/requests", { params: { query } }));
    return { items: requests, next };
  });
  return (
    <CursorList pages={pages} empty={<NoRequests status={status} query={wanted} />}>
      {(requests) => <RequestsTable caption={`Requests, ${order} first`} requests={requests} />}
    </CursorList>
  );
}

function NoRequests({ status, query }: Omit<Filter, "order">) {
  if (Object.keys(query).length > 0) {
    return (
      <EmptyState title="No such requests">
        No request {status === null ? "" : `that is ${status} `}
        {query.reference === undefined ? (
          "matches all filters."
        ) : (
          <>
            has the reference “<bdi>{query.reference}</bdi>” and matches the other filters.
          </>
        )}{" "}
        Capital letters count.
      </EmptyState>
    );
  }
  if (status !== null) return <EmptyState title={`No requests are ${status}`}>Choose another state.</EmptyState>;
  return (
    <EmptyState title="No requests yet">
      <a href={href("/collections")}>Create a collection or mint a token</a>, and watch the request here.
    </EmptyState>
  );
}

/** Rows of requests. Each has a link to its page. */
export function RequestsTable({ caption, requests }: { caption: string; requests: readonly Request[] }) {
  return (
    <Table
      caption={caption}
      rows={requests}
      keyOf={(request) => request.request_id}
      columns={[
        {
          head: "Request",
          cell: (request) => (
            <a href={href("/requests/:request_id", { request_id: request.request_id })}>
              {TYPE_NAMES[request.type]} <code title={request.request_id}>{shortHex(request.request_id)}</code>
            </a>
          ),
        },
        { head: "State", cell: (request) => <State request={request} /> },
        { head: "Token", cell: (request) => <Subject request={request} /> },
        { head: "To", cell: (request) => <Receiver request={request} /> },
        { head: "Fee", right: true, cell: ({ fee_wei }) => (fee_wei === null ? "–" : <Ether wei={fee_wei} />) },
        { head: "Accepted", right: true, cell: (request) => <Age time={request.created_at} /> },
      ]}
    />
  );
}

function State({ request }: { request: Request }) {
  const reason = shortReason(request);
  return (
    <>
      <StateBadge status={request.status} />{" "}
      {reason !== null && (
        <span class="muted" title={request.error_message ?? undefined}>
          {reason}
        </span>
      )}{" "}
      <SendAgain request={request} />
    </>
  );
}

/** Who gets the token: the app's user, or an address. */
function Receiver({ request: { to_address: address, to_user: user } }: { request: Request }) {
  if (address === null) return <>–</>;
  if (user === null) return <code title={address}>{shortHex(address)}</code>;
  return (
    <a href={href("/wallets/:address", { address })} title={address}>
      <bdi>{user}</bdi>
    </a>
  );
}

function Subject({ request: { nft_collection: address, nft_token_id: token } }: { request: Request }) {
  if (address === null) return <>–</>;
  const collection = <CollectionName address={address} />;
  if (token === null) return <a href={href("/collections/:address", { address })}>{collection}</a>;
  return (
    <a href={href("/collections/:address/:token_id", { address, token_id: token })}>
      {collection} <span class="short">#{shortHex(token.toString())}</span>
    </a>
  );
}
