import { useState } from "preact/hooks";

import { answerOf, type Shape } from "../../client/client.ts";
import { ApiRefusal } from "../../client/errors.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Address } from "../parts/copyable.tsx";
import { CursorList } from "../parts/cursor-list.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { sentenceOf } from "../parts/sentence.ts";
import { OrderChoice } from "../parts/order.tsx";
import { Screen } from "../parts/screen.tsx";
import { SearchForm } from "../parts/search-form.tsx";
import { Table } from "../parts/table.tsx";
import { client } from "../service/client.ts";
import type { Order } from "../service/order.ts";
import { mayUse } from "../service/session.ts";
import { usePages } from "../service/use-data.ts";
import { href } from "../shell/href.ts";
import { CreateWallet } from "./create-wallet.tsx";

/** The app's wallets, a search, and a form for a new one. */
export function WalletsScreen() {
  const [creating, setCreating] = useState(false);
  const [order, setOrder] = useState<Order>("newest");
  const pages = usePages(
    async (cursor) => {
      const query = { order, ...(cursor === undefined ? {} : { cursor }) };
      const { wallets, next } = await answerOf(client().GET("/v1/accounts", { params: { query } }));
      return { items: wallets, next };
    },
    [order],
  );
  const actions = mayUse("accounts") && (
    <Button
      kind="primary"
      onClick={() => {
        setCreating(true);
      }}
    >
      Create a wallet
    </Button>
  );
  return (
    <Screen title="Wallets" actions={actions}>
      <Search />
      {pages.items.length > 1 && <OrderChoice order={order} onChange={setOrder} />}
      <CursorList
        pages={pages}
        empty={<EmptyState title="No wallets yet">Create a wallet to mint tokens into it.</EmptyState>}
      >
        {(wallets) => (
          <Table
            caption="Wallets of the app"
            rows={wallets}
            keyOf={({ address }) => address}
            columns={[
              { head: "User", cell: (wallet) => <User wallet={wallet} /> },
              { head: "Address", cell: ({ address }) => <Address value={address} /> },
            ]}
          />
        )}
      </CursorList>
      {creating && (
        <CreateWallet
          onClose={() => {
            setCreating(false);
          }}
        />
      )}
    </Screen>
  );
}

function User({ wallet }: { wallet: Shape<"Wallet"> }) {
  const { address, user_identifier: user, watch_only: isWatched } = wallet;
  return (
    <>
      <a href={href("/wallets/:address", { address })}>
        {user === null ? <span>Wallet without a user</span> : <bdi>{user}</bdi>}
      </a>{" "}
      {isWatched && <Badge>Watch-only</Badge>}
    </>
  );
}

const NOT_FOUND = 404;

/** Opens the wallet of an address or of a user. */
function Search() {
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  async function find(wanted: string): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      location.hash = href("/wallets/:address", { address: await addressOf(wanted) });
    } catch (problem) {
      setError(
        problem instanceof ApiRefusal && problem.status === NOT_FOUND
          ? `No wallet of this app has the user identifier “${wanted}”. Check the spelling: capital letters count.`
          : sentenceOf(problem),
      );
    } finally {
      setBusy(false);
    }
  }

  return (
    <SearchForm
      label="Find a wallet"
      hint="By its user identifier or its address."
      error={error}
      busy={busy}
      onSearch={(text) => {
        const wanted = text.trim();
        if (wanted !== "") void find(wanted);
      }}
    />
  );
}

async function addressOf(wanted: string): Promise<string> {
  if (/^0x[0-9a-fA-F]{40}$/.test(wanted)) return wanted;
  const path = { user_identifier: wanted };
  const wallet = await answerOf(client().GET("/v1/accounts/user/{user_identifier}", { params: { path } }));
  return wallet.address;
}
