import type { Shape } from "../../client/client.ts";
import { href } from "../shell/href.ts";
import { Picture } from "./picture.tsx";

type Token = Pick<
  Shape<"Nft">,
  "contract_address" | "token_id" | "metadata" | "quantity" | "collection_name" | "final"
>;

/** A token's name. Without one, its number. */
export function tokenName({ metadata, token_id: id }: Pick<Token, "metadata" | "token_id">): string {
  return typeof metadata?.name === "string" && metadata.name !== "" ? metadata.name : `Token ${String(id)}`;
}

/** Behind a text about an item whose last change a reorg can still undo. */
export function notFinal({ final }: { final: boolean }): string {
  return final ? "" : " · not final";
}

/** Decides the drawn picture of a token that has none. */
export function tokenSeed({ contract_address: address, token_id: id }: Pick<Token, "contract_address" | "token_id">) {
  return `${address}/${String(id)}`;
}

/** Tokens as pictures that open their pages. */
export function TokenTiles({ tokens }: { tokens: readonly Token[] }) {
  return (
    <ul class="tiles">
      {tokens.map((token) => (
        <li key={tokenSeed(token)}>
          <TokenTile token={token} />
        </li>
      ))}
    </ul>
  );
}

function TokenTile({ token }: { token: Token }) {
  const { contract_address: address, token_id: id, metadata, quantity } = token;
  return (
    <a class="tile" href={href("/collections/:address/:token_id", { address, token_id: id })}>
      <Picture source={metadata?.image} label="" seed={tokenSeed(token)} />
      <span class="tile-text">
        <bdi class="tile-name">{tokenName(token)}</bdi>
        <span class="tile-facts">
          #{String(id)}
          {quantity !== undefined && ` · ${String(quantity)} copies`}
          {notFinal(token)}
        </span>
      </span>
    </a>
  );
}
