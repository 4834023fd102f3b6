import type { Shape } from "../../client/client.ts";
import { mayUse } from "../service/session.ts";
import { href } from "../shell/href.ts";

/* Links to the forms. Those that the session's scopes do not allow are left out, and a sentence says why. */

export function CollectionsOffers() {
  if (!mayUse("collections")) return <Missing scopes={["collections"]} />;
  return (
    <a class="button button-primary" href={href("/collections/new")}>
      Create a collection
    </a>
  );
}

export function CollectionOffers({ address, hosting }: Pick<Shape<"Collection">, "address" | "hosting">) {
  const change = mayUse("collections") && hosting === "hosted";
  return (
    <>
      {mayUse("mint") && (
        <>
          <a class="button button-primary" href={href("/collections/:address/mint", { address })}>
            Mint
          </a>
          <a class="button" href={href("/collections/:address/import", { address })}>
            Mint many
          </a>
        </>
      )}
      {change && (
        <>
          <a class="button" href={href("/collections/:address/change", { address })}>
            Change
          </a>
          <a class="button" href={href("/collections/:address/freeze", { address })}>
            Freeze
          </a>
        </>
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
        <a
          class="button"
          href={href("/transfer/:from/:contract/:token_id", { from: holder, contract: address, token_id })}
        >
          Transfer
        </a>
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
