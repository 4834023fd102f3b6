import { answerOf, type Shape } from "../../client/client.ts";
import { Address } from "../parts/copyable.tsx";
import { CursorList } from "../parts/cursor-list.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { Holder } from "../parts/named.tsx";
import { Table } from "../parts/table.tsx";
import { notFinal } from "../parts/token-tile.tsx";
import { client } from "../service/client.ts";
import { dateTime } from "../service/format.ts";
import { explorerLink } from "../service/links.ts";
import { usePages } from "../service/use-data.ts";

const LIMIT = 20;
const WORDS = { mint: "Minted", transfer: "Transferred", burn: "Burnt" } as const;

type Entry = Shape<"HistoryEntry">;

interface Props {
  address: string;
  id: string;
  /** The history is loaded again when this changes. */
  version: unknown;
}

/** What happened to a token, newest first. */
export function TokenHistory({ address, id, version }: Props) {
  const pages = usePages<Entry>(
    async (cursor) => {
      const query = { limit: LIMIT, ...(cursor === undefined ? {} : { cursor }) };
      const params = { path: { address, token_id: id }, query };
      const page = await answerOf(client().GET("/v1/collections/{address}/{token_id}/history", { params }));
      return { items: page.history, next: page.next };
    },
    [version],
  );
  return (
    <section class="stack" aria-label="History">
      <h2>History</h2>
      <CursorList pages={pages} empty={<EmptyState title="No history">The token has not been minted.</EmptyState>}>
        {(entries) => (
          <Table
            caption="History of the token"
            rows={entries}
            keyOf={(entry) => `${entry.transaction_hash} ${entries.indexOf(entry).toString()}`}
            columns={[
              { head: "What", cell: (entry) => WORDS[entry.type] + notFinal(entry) },
              { head: "From", cell: ({ from_address: from }) => <Party value={from} /> },
              { head: "To", cell: ({ to_address: to }) => <Party value={to} /> },
              { head: "Copies", cell: ({ quantity }) => String(quantity), right: true },
              { head: "Time", cell: ({ timestamp }) => dateTime(timestamp) },
              {
                head: "Transaction",
                cell: ({ transaction_hash: hash }) => (
                  <Address value={hash} what="the transaction" link={explorerLink({ transaction: hash })} />
                ),
              },
            ]}
          />
        )}
      </CursorList>
    </section>
  );
}

function Party({ value }: { value: string | null }) {
  if (value === null) return <span class="muted">—</span>;
  return <Holder address={value} />;
}
