import type { ComponentChildren } from "preact";

import { safeLink } from "../service/links.ts";

/** An address from metadata: a link if it is a web page, else text. No other scheme becomes a link. */
export function WebLink({ address, children }: { address: string; children?: ComponentChildren }) {
  const url = safeLink(address);
  if (url === null) return <bdi>{address}</bdi>;
  return (
    <a href={url} rel="noreferrer noopener" target="_blank">
      {children ?? <bdi>{address}</bdi>}
    </a>
  );
}
