import { z } from "zod";

import { announcedAddresses, bootstrapPeers, httpUrl, listenAddresses, setting, wholeNumber } from "./parsers.ts";

/** A bucket, and how to reach it. */
interface BucketSetting {
  bucket: string;
  /** Without a slash at its start; with one at its end, unless it is empty. */
  prefix: string;
  /** `https://host[:port]` */
  endpoint: string;
  region: string;
  /** Whether the bucket's name is a part of the path. Otherwise it is a part of the host name. */
  pathStyle: boolean;
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken: string | null };
}

/** Where the blocks of hosted content are. */
export type MediaStoreSetting = { kind: "files" } | { kind: "database" } | { kind: "s3"; bucket: BucketSetting };

/** Where hosted content is stored, and how the IPFS network reaches it. */
export const MEDIA = {
  MEDIA_STORE: setting(
    z.string(),
    "`files` (`database` with `DATABASE_URL=postgres://...`)",
    "Where hosted media are stored: `files` (in `DATA_DIR`), `database`, or an S3-compatible bucket as `s3://<bucket>/<prefix>`. Several machines need `database` or a bucket. Options of a bucket: `?endpoint=https://host` (default `AWS_ENDPOINT_URL_S3`, else AWS), `&region=` (default `AWS_REGION`), `&style=path` or `virtual`. `npm run cli -- media move` changes it later.",
  ),
  AWS_ACCESS_KEY_ID: setting(z.string(), "none", "Access key of the bucket."),
  AWS_SECRET_ACCESS_KEY: setting(z.string(), "none", "Secret key of the bucket."),
  AWS_SESSION_TOKEN: setting(z.string(), "none", "Session token of temporary keys."),
  AWS_REGION: setting(z.string(), "us-east-1", "Region of the bucket."),
  AWS_ENDPOINT_URL_S3: setting(
    z.string(),
    "AWS",
    "URL of the S3-compatible server (MinIO, Garage, R2 and others), without a path.",
  ),
  COLLECT_MEDIA_HOURS: setting(
    wholeNumber(0, 8_760),
    "24",
    "Hours between two deletions of media that nothing uses and that are older than a week, as `npm run cli -- media collect` deletes them. A process with the role `media` does it. `0`: never.",
  ),
  IPFS_GATEWAY: setting(
    httpUrl,
    "none",
    "IPFS gateway (`https://...`) for `ipfs://` media that is not stored here. Without it such media fails with `media_unavailable`. The gateway must support `?format=raw`, as Kubo and most public gateways do: the service verifies the hash of every block.",
  ),
  IPFS_PIN_RPC: setting(
    httpUrl,
    "none",
    "RPC URL of a Kubo node (`http://...:5001`). All hosted content is pinned there.",
  ),
  IPFS_LISTEN: setting(
    listenAddresses,
    "none",
    "Addresses that the built-in IPFS node listens on (`/ip4/0.0.0.0/tcp/4001`). It serves and announces hosted content. Without this setting the node is off.",
  ),
  IPFS_ANNOUNCE: setting(
    announcedAddresses,
    "`IPFS_LISTEN`",
    "Public addresses of the built-in IPFS node (`/ip4/<public address>/tcp/4001`). Needed behind NAT, for example.",
  ),
  IPFS_BOOTSTRAP: setting(
    bootstrapPeers,
    "`bootstrap.libp2p.io` and others of the public network",
    "Peers that the IPFS node connects to first (`/ip4/.../tcp/4001/p2p/<peer id>`), or `none`.",
  ),
} as const;

/** Entry points to the public network: the TCP addresses of Kubo's list (config/bootstrap_peers.go). */
export const PUBLIC_BOOTSTRAP = [
  "/dnsaddr/bootstrap.libp2p.io/p2p/QmNnooDu7bfjPFoTZYxMNLWUQJyrVwtbZg5gBMjTezGAJN",
  "/dnsaddr/bootstrap.libp2p.io/p2p/QmbLHAnMoJPWSCR5Zhtx6BHJX9KiKNN6tpvbUcqanj75Nb",
  "/dnsaddr/bootstrap.libp2p.io/p2p/QmcZf59bWwK5XFi76CZX8cbJ4BhTzzA3gU1ZjYZcYW3dwt",
  "/dnsaddr/va1.bootstrap.libp2p.io/p2p/12D3KooWKnDdG3iXw9eTFijk3EWSunZcFi54Zka4wmtqtt6rPxc8",
  "/ip4/104.131.131.82/tcp/4001/p2p/QmaCpDMGvV2BGHeYERUEnRQAwe3N8SzbUtfsmvsqQLuvuJ",
];

/** What the environment says about buckets. */
export interface BucketEnvironment {
  accessKeyId: string | null;
  secretAccessKey: string | null;
  sessionToken: string | null;
  region: string;
  endpoint: string | null;
}

const OPTIONS = ["endpoint", "region", "style"];

/** @returns the setting, or what is wrong with the text. */
export function parseMediaStore(text: string, environment: BucketEnvironment): MediaStoreSetting | string {
  if (text === "files" || text === "database") return { kind: text };
  if (!text.startsWith("s3://")) return "must be files, database or s3://<bucket>/<prefix>";
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text);
  if (match === null)
    return "must be s3://<bucket>/<prefix>; a bucket's name has 3 to 63 of a-z, 0-9, dots and hyphens";
  const [, bucket = "", path = "", query = ""] = match;
  const options = new URLSearchParams(query);
  const unknown = [...options.keys()].filter((name) => !OPTIONS.includes(name));
  if (unknown.length > 0) return `has the unknown option ${unknown.join(", ")}; known are ${OPTIONS.join(", ")}`;
  const { accessKeyId, secretAccessKey, sessionToken } = environment;
  if (accessKeyId === null || secretAccessKey === null) {
    return "needs the keys of the bucket: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
  }
  const region = options.get("region") ?? environment.region;
  const own = options.get("endpoint") ?? environment.endpoint;
  const endpoint = originOf(own ?? `https://s3.${region}.amazonaws.com`);
  if (endpoint === null) return "needs an endpoint such as https://host:9000, without a path";
  const style = options.get("style") ?? (own === null && !bucket.includes(".") ? "virtual" : "path");
  if (style !== "path" && style !== "virtual") return "has the option style, which must be path or virtual";
  const prefix = path.replace(/^\/+|\/+$/g, "");
  return {
    kind: "s3",
    bucket: {
      bucket,
      prefix: prefix === "" ? "" : `${prefix}/`,
      endpoint,
      region,
      pathStyle: style === "path",
      credentials: { accessKeyId, secretAccessKey, sessionToken },
    },
  };
}

function originOf(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) return null;
  const bare =
    url.pathname === "/" && url.search === "" && url.hash === "" && url.username === "" && url.password === "";
  return bare ? url.origin : null;
}
