import { answerOf, type Shape } from "../../client/client.ts";
import { Button } from "../parts/button.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Holder } from "../parts/named.tsx";
import { notFinal } from "../parts/token-tile.tsx";
import { client } from "../service/client.ts";
import { usePages } from "../service/use-data.ts";
import type { Token } from "./token.tsx";

type Owner = Shape<"Erc1155Nft">["owners"][number];

/** The owner of an ERC721 token, or the owners of an ERC1155 id. */
export function Owners({ token }: { token: Token }) {
  return (
    <section class="stack" aria-label="Owners">
      <h2>{token.type === "ERC721" ? "Owner" : "Owners"}</h2>
      {token.type === "ERC1155" ? <OwnersList token={token} /> : <SingleOwner owner={token.owner ?? null} />}
    </section>
  );
}

function SingleOwner({ owner }: { owner: string | null }) {
  if (owner === null) return <p class="muted">Nobody: the token was burnt.</p>;
  return (
    <p>
      <Holder address={owner} what="the address of the owner" />
    </p>
  );
}

function OwnersList({ token }: { token: Shape<"Erc1155Nft"> }) {
  const pages = usePages<Owner>(
    async (cursor) => {
      // The first page came with the token.
      if (cursor === undefined) return { items: token.owners, next: token.next };
      const path = { address: token.contract_address, token_id: token.token_id };
      const params = { path, query: { cursor } };
      const page = await answerOf<Token>(client().GET("/v1/collections/{address}/{token_id}", { params }));
      return page.type === "ERC1155" ? { items: page.owners, next: page.next } : { items: [], next: null };
    },
    [token],
  );
  return (
    <>
      <p class="muted">
        {String(token.quantity ?? 0)} copies, {token.total} {token.total === 1 ? "owner" : "owners"}
      </p>
      <ul class="stack-small">
        {pages.items.map((owner) => (
          <li key={owner.address} class="owner">
            <Holder address={owner.address} what="the address of the owner" />
            <span class="muted">
              × {String(owner.quantity)}
              {notFinal(owner)}
            </span>
          </li>
        ))}
      </ul>
      {pages.error !== null && <ErrorNote error={pages.error} retry={pages.more} />}
      {pages.next !== null && (
        <div>
          <Button busy={pages.loading} onClick={pages.more}>
            More owners
          </Button>
        </div>
      )}
    </>
  );
}
