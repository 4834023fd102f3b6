import { useState } from "preact/hooks";

import { mediaUrl } from "../service/links.ts";
import { Placeholder } from "./placeholder.tsx";

interface Props {
  /** Address from the metadata, of any scheme. */
  source: string | null | undefined;
  /** What the picture shows, such as the token's name. */
  label: string;
  /** Decides the drawn picture, which replaces a picture that is absent or does not load: address and id. */
  seed: string;
  /** Loads at once instead of when it comes into view. */
  eager?: boolean;
}

/** The square picture of a token or a collection. As a picture, an SVG file runs no script and loads nothing else. */
export function Picture({ source, label, seed, eager = false }: Props) {
  const url = source === null || source === undefined ? null : mediaUrl(source);
  // Not a flag that an effect resets for another picture: the effect may run after the picture has failed.
  const [failed, setFailed] = useState<string | null>(null);
  return (
    <div class="picture">
      {url === null || url === failed ? (
        <Placeholder seed={seed} label={label} />
      ) : (
        <img
          src={url}
          alt={label}
          loading={eager ? "eager" : "lazy"}
          decoding="async"
          referrerpolicy="no-referrer"
          onError={() => {
            setFailed(url);
          }}
        />
      )}
    </div>
  );
}
