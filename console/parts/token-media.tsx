import { useState } from "preact/hooks";

import type { Shape } from "../../client/client.ts";
import { mediaUrl } from "../service/links.ts";
import { Picture } from "./picture.tsx";
import { tokenName, tokenSeed } from "./token-tile.tsx";

type Token = Pick<Shape<"Nft">, "contract_address" | "token_id" | "metadata">;

/** The picture of a token, and a button that plays its video or sound. Nothing plays, and no large file loads, by itself. */
export function TokenMedia({ token }: { token: Token }) {
  const [playing, setPlaying] = useState(false);
  const [failed, setFailed] = useState(false);
  const { metadata } = token;
  const name = tokenName(token);
  const animation = typeof metadata?.animation_url === "string" ? mediaUrl(metadata.animation_url) : null;
  if (playing && animation !== null && !failed) {
    return (
      <div class="picture">
        <video
          src={animation}
          controls
          autoplay
          aria-label={`Video of ${name}`}
          onError={() => {
            setFailed(true);
          }}
        />
      </div>
    );
  }
  return (
    <div class="stack">
      <Picture source={metadata?.image} label={`Picture of ${name}`} seed={tokenSeed(token)} eager />
      {failed && <p class="muted">The browser cannot play this file.</p>}
      {animation !== null && !failed && (
        <button
          type="button"
          class="button"
          onClick={() => {
            setPlaying(true);
          }}
        >
          Play the video or sound
        </button>
      )}
    </div>
  );
}
