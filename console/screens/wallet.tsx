import { useState } from "preact/hooks";

import { answerOf, type Shape } from "../../client/client.ts";
import { ApiRefusal } from "../../client/errors.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Copyable } from "../parts/copyable.tsx";
import { CopyAs } from "../parts/copy-as.tsx";
import { CursorList } from "../parts/cursor-list.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { LastCall } from "../parts/last-call.tsx";
import { Holder } from "../parts/named.tsx";
import { Screen } from "../parts/screen.tsx";
import { Table } from "../parts/table.tsx";
import { notFinal } from "../parts/token-tile.tsx";
import { Age } from "../parts/when.tsx";
import { client } from "../service/client.ts";
import { walletAt } from "../service/directory.ts";
import { explorerLink } from "../service/links.ts";
import { mayUse } from "../service/session.ts";
import { useLive } from "../service/live.ts";
import { usePages } from "../service/use-data.ts";
import { href, type ScreenProps } from "../shell/href.ts";
import { CreateWallet } from "./create-wallet.tsx";
import { Holding } from "./holding.tsx";

const LIMIT = 24;

/** What a wallet holds, as pictures, and what happened to it. */
export function WalletScreen({ params }: ScreenProps<"address">) {
  const { address } = params;
  const holdings = usePages(
    async (cursor) => {
      const query = { limit: LIMIT, ...(cursor === undefined ? {} : { cursor }) };
      const page = await answerOf(client().GET("/v1/accounts/{address}", { params: { path: { address }, query } }));
      // The secret stays out of the page until a person asks for it.
      const items = page.nfts.map(({ unlockable_content: content, ...nft }) => ({ nft, unlockable: content !== null }));
      return { items, next: page.next };
    },
    [address],
  );
  useLive((event) => {
    // Events do not name the wallet. A person who has loaded more pages keeps them.
    if (event.type !== "sent" && holdings.items.length <= LIMIT) holdings.reload();
  });
  const explorer = explorerLink({ address });
  const wallet = walletAt(address);
  const user = wallet?.user_identifier ?? null;
  return (
    <Screen title={user === null ? "Wallet" : `Wallet of ${user}`} trail={<a href={href("/wallets")}>Wallets</a>}>
      <p>
        <Copyable text={address} what="the address" />{" "}
        {explorer !== null && (
          <a href={explorer} target="_blank" rel="noreferrer">
            Show in the explorer
          </a>
        )}{" "}
        <a href={href("/requests/wallet/:wallet", { wallet: address })}>Its requests</a>{" "}
        {mayUse("users") && wallet !== null && <RenameUser wallet={wallet} />}
      </p>
      {wallet?.watch_only === true && <WatchOnly />}
      <section class="stack">
        <h2>Tokens</h2>
        <CursorList
          pages={holdings}
          empty={
            <EmptyState title="This wallet holds no tokens">
              <a href={href("/collections")}>Choose a collection</a> and mint a token to this address.
            </EmptyState>
          }
        >
          {(items) => (
            <ul class="tiles">
              {items.map(({ nft, unlockable }) => (
                <li key={`${nft.contract_address} ${nft.token_id.toString()}`}>
                  <Holding wallet={address} nft={nft} unlockable={unlockable} />
                </li>
              ))}
            </ul>
          )}
        </CursorList>
        <CopyAs call={{ method: "GET", path: "/v1/accounts/{address}", pathParams: { address } }} />
      </section>
      <LastCall path="/v1/accounts" />
      {!(holdings.error instanceof ApiRefusal) && <History address={address} />}
    </Screen>
  );
}

function WatchOnly() {
  return (
    <p class="muted">
      <Badge>Watch-only</Badge> The key of this address is not at the service: its tokens cannot be moved from here.
    </p>
  );
}

function RenameUser({ wallet }: { wallet: Shape<"Wallet"> }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button kind="small" onClick={() => setOpen(true)}>
        Rename the user
      </Button>
      {open && <CreateWallet wallet={wallet} onClose={() => setOpen(false)} />}
    </>
  );
}

const TYPES: Record<Shape<"HistoryEntry">["type"], string> = {
  mint: "Minted",
  transfer: "Transferred",
  burn: "Burnt",
};

function History({ address }: { address: string }) {
  const pages = usePages(
    async (cursor) => {
      const query = cursor === undefined ? {} : { cursor };
      const path = { address };
      const page = await answerOf(client().GET("/v1/accounts/{address}/history", { params: { path, query } }));
      return { items: page.history, next: page.next };
    },
    [address],
  );
  return (
    <section class="stack">
      <h2>History</h2>
      <CursorList
        pages={pages}
        empty={<EmptyState title="Nothing has happened yet">Tokens that come and go are listed here.</EmptyState>}
      >
        {(entries) => (
          <Table
            caption="History of the wallet, newest first"
            rows={entries}
            keyOf={(entry) => JSON.stringify(entry)}
            columns={[
              { head: "What", cell: (entry) => TYPES[entry.type] + notFinal(entry) },
              {
                head: "Token",
                cell: ({ contract_address, token_id }) => <TokenLink address={contract_address} id={token_id} />,
              },
              { head: "From", cell: ({ from_address: from }) => (from === null ? "–" : <Holder address={from} />) },
              { head: "To", cell: ({ to_address: to }) => (to === null ? "–" : <Holder address={to} />) },
              {
                head: "Request",
                cell: ({ request_id }) =>
                  request_id === null ? (
                    "outside the service"
                  ) : (
                    <a href={href("/requests/:request_id", { request_id })}>Open</a>
                  ),
              },
              { head: "When", right: true, cell: ({ timestamp }) => <Age time={timestamp} /> },
            ]}
          />
        )}
      </CursorList>
    </section>
  );
}

function TokenLink({ address, id }: { address: string; id: number | string }) {
  const text = id.toString();
  return (
    <a
      class="short"
      href={href("/collections/:address/:token_id", { address, token_id: text })}
      title={`${address} #${text}`}
    >
      #{text.length > 12 ? `${text.slice(0, 6)}…${text.slice(-4)}` : text}
    </a>
  );
}
