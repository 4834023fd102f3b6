import { session, SERVICE_URL } from "./session.ts";

/* Addresses from metadata come from strangers. Only these functions turn them into links and pictures. */

const LONGEST = 8_192;

/** The address of a page that a link may open: http and https only. null: show it as text. */
export function safeLink(address: string): string | null {
  const url = parsed(address);
  return url !== null && (url.protocol === "https:" || url.protocol === "http:") ? url.href : null;
}

/**
 * The address of a picture or a video for <img> and <video>, where no scheme runs a script. ipfs: goes through the service.
 * null: the browser cannot show it.
 */
export function mediaUrl(address: string): string | null {
  const own = ipfsUrl(address);
  if (own !== null) return own;
  if (/^data:(image|video)\//i.test(address)) return address;
  const url = parsed(address);
  return url !== null && ["https:", "http:"].includes(url.protocol) ? url.href : null;
}

/** `ipfs://<cid>/<path>` at the service's own gateway. null: another scheme. */
export function ipfsUrl(address: string): string | null {
  const found = /^ipfs:\/\/(?:ipfs\/)?([A-Za-z0-9]+)((?:\/[^?#]*)?)$/.exec(address);
  if (found === null) return null;
  const [, cid = "", path = ""] = found;
  const parts = path.split("/").map((part) => encodeURIComponent(decoded(part)));
  // `..` would leave the folder of the gateway.
  if (parts.includes("..")) return null;
  return `${SERVICE_URL}ipfs/${cid}${parts.join("/")}`;
}

/** A page of the block explorer. null: the chain has none. */
export function explorerLink(
  target: { transaction: string } | { address: string } | { token: string; id: string },
): string | null {
  const base = session().explorer_url?.replace(/\/$/, "");
  if (base === undefined) return null;
  if ("transaction" in target) return `${base}/tx/${encodeURIComponent(target.transaction)}`;
  if ("address" in target) return `${base}/address/${encodeURIComponent(target.address)}`;
  return `${base}/token/${encodeURIComponent(target.token)}?a=${encodeURIComponent(target.id)}`;
}

function parsed(address: string): URL | null {
  return address.length > LONGEST ? null : URL.parse(address);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
