import { useId } from "preact/hooks";

import type { Shape } from "../../client/client.ts";
import { closedBecause } from "../service/collections.ts";
import { mayUse } from "../service/session.ts";
import { href } from "../shell/href.ts";

/* Links to the forms. Those that the session's scopes do not allow are left out, and a sentence says why. */

export function CollectionsOffers() {
  if (!mayUse("collections")) return <Missing scopes={["collections"]} />;
  return (
    <>
      <a class="button button-primary" href={href("/collections/new")}>
        Create a collection
      </a>
      <a class="button" href={href("/collections/adopt")}>
        Adopt a contract
      </a>
    </>
  );
}

export function CollectionOffers({ collection }: { collection: Shape<"Collection"> }) {
  const { address, type, hosting, adopted } = collection;
  const closed = closedBecause(collection);
  const reason = useId();
  const offer = (label: string, to: string, { primary = false, open = closed === null } = {}) => {
    const name = primary ? "button button-primary" : "button";
    return open ? (
      <a class={name} href={to}>
        {label}
      </a>
    ) : (
      <button type="button" class={name} disabled aria-describedby={reason}>
        {label}
      </button>
    );
  };
  return (
    <>
      {mayUse("mint") && (
        <>
          {/* Copies of an ERC1155 id that exists bring no metadata. */}
          {offer("Mint", href("/collections/:address/mint", { address }), {
            primary: true,
            open: closed === null || (type === "ERC1155" && adopted === null),
          })}
          {offer("Mint many", href("/collections/:address/import", { address }))}
        </>
      )}
      {mayUse("collections") && hosting === "hosted" && (
        <>
          {offer("Change", href("/collections/:address/change", { address }))}
          {offer("Freeze", href("/collections/:address/freeze", { address }))}
        </>
      )}
      {closed !== null && (
        <span class="muted" id={reason}>
          {closed}
        </span>
      )}
      <Missing scopes={["mint", "collections"]} />
    </>
  );
}

type Token = Shape<"Erc721Nft"> | Shape<"Erc1155Nft">;

export function TokenOffers({ token }: { token: Token }) {
  const { contract_address: address, token_id } = token;
  const holder = token.type === "ERC721" ? token.owner : token.owners[0]?.address;
  return (
    <>
      {mayUse("transfer") && holder !== null && holder !== undefined && (
        <>
          <a
            class="button"
            href={href("/transfer/:from/:contract/:token_id", { from: holder, contract: address, token_id })}
          >
            Transfer
          </a>
          <a
            class="button"
            href={href("/burn/:from/:contract/:token_id", { from: holder, contract: address, token_id })}
          >
            Burn
          </a>
        </>
      )}
      {mayUse("collections") && token.metadata !== null && (
        <a class="button" href={href("/collections/:address/:token_id/change", { address, token_id })}>
          Change
        </a>
      )}
      <Missing scopes={["transfer", "collections"]} />
    </>
  );
}

/** Says why a link is not offered. */
function Missing({ scopes }: { scopes: readonly string[] }) {
  const missing = scopes.filter((scope) => !mayUse(scope));
  if (missing.length === 0) return null;
  return <span class="muted">This session does not have the scope {missing.join(", ")}.</span>;
}
