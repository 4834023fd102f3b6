import { useState } from "preact/hooks";

import { answerOf, type Shape } from "../../client/client.ts";
import { Button } from "../parts/button.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Picture } from "../parts/picture.tsx";
import { notFinal } from "../parts/token-tile.tsx";
import { client } from "../service/client.ts";
import { href } from "../shell/href.ts";

interface Props {
  wallet: string;
  nft: Omit<Shape<"HeldNft">, "unlockable_content">;
  /** Whether the token has content that only its holder may read. */
  unlockable: boolean;
}

/** A token of a wallet as a picture. */
export function Holding({ wallet, nft, unlockable }: Props) {
  const { contract_address: address, token_id: id, metadata, collection_name: collection, quantity } = nft;
  const name = metadata?.name ?? `#${id.toString()}`;
  return (
    <div class="holding">
      <a class="tile" href={href("/collections/:address/:token_id", { address, token_id: id })}>
        <Picture source={metadata?.image} label="" seed={`${address} ${id.toString()}`} />
        <span class="tile-text">
          <bdi class="tile-name">{name}</bdi>
          <span class="tile-facts">
            <bdi>{collection ?? address}</bdi>
            {quantity !== undefined && ` · ${quantity.toString()} copies`}
            {notFinal(nft)}
          </span>
        </span>
      </a>
      {unlockable && <Unlockable wallet={wallet} address={address} id={id} name={name} />}
    </div>
  );
}

interface Place {
  wallet: string;
  address: string;
  id: number | string;
  name: string;
}

/** Content that only the holder may read. It is fetched when a person asks for it. */
function Unlockable({ wallet, address, id, name }: Place) {
  const [content, setContent] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  async function show(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      const path = { address: wallet, contract_address: address, token_id: id.toString() };
      const page = await answerOf(
        client().GET("/v1/accounts/{address}/{contract_address}/{token_id}", { params: { path } }),
      );
      const found = page.nfts[0]?.unlockable_content ?? null;
      if (found === null) setError(new Error("The wallet no longer holds this token. Reload the page."));
      else setContent(found);
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  }

  if (content !== null) {
    return (
      <div class="stack">
        <pre class="long-text" aria-label={`Unlockable content of ${name}`}>
          {content}
        </pre>
        <Button
          onClick={() => {
            setContent(null);
          }}
        >
          Hide the content
        </Button>
      </div>
    );
  }
  return (
    <>
      <Button
        busy={busy}
        aria-label={`Show the unlockable content of ${name}`}
        onClick={() => {
          void show();
        }}
      >
        Show the unlockable content
      </Button>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}
