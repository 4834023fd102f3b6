import { createHash } from "node:crypto";
import { isIP, isIPv4, isIPv6 } from "node:net";

import { HDNodeVoidWallet, HDNodeWallet } from "ethers";
import { base58btc } from "multiformats/bases/base58";
import { CID } from "multiformats/cid";
import { decode as decodeMultihash } from "multiformats/hashes/digest";
import { z } from "zod";

import { MOST_NODES } from "../domain/conditions.ts";
import { DEFAULT_QUOTAS, QUOTA_NAMES, type Quotas } from "../domain/quota.ts";

/** No lane has this number or a higher one. */
export const MOST_LANES = 64;

/** The numbers of the lanes to use: the first `count` that are not retired. Fewer, when there are no more numbers. */
export function lanesInUse(count: number, retired: readonly number[]): number[] {
  return [...Array(MOST_LANES).keys()].filter((lane) => !retired.includes(lane)).slice(0, count);
}

/*
 * Parsers for settings. Each parses the text of one environment variable. Its error message follows the variable's name.
 */

/** A setting: its parser, its default as the documentation shows it, and its meaning. */
export function setting<Schema extends z.ZodType>(schema: Schema, fallback: string, description: string) {
  return { schema, fallback, description };
}

/** Says what is wrong with a text. Returned by a transformation, it ends the parsing. */
export function refuse(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: "custom", message });
  return z.NEVER;
}

/** A whole number, written in decimal digits. */
export function wholeNumber(least: number, most: number) {
  const message = `must be a whole number from ${least.toString()} to ${most.toString()}`;
  return z
    .string()
    .regex(/^\d{1,16}$/, message)
    .transform(Number)
    .refine((value) => value >= least && value <= most, message);
}

/** Quotas of a new app: those that the text names, or the defaults; null: unlimited. */
export const quotas = z.string().transform((text, context): Quotas => {
  const pairs = text.split(",").map((pair) => pair.split("=").map((part) => part.trim()));
  const right = pairs.every(
    ([name, value = "", ...rest]) =>
      QUOTA_NAMES.some((known) => known === name) && /^(none|\d{1,15})$/.test(value) && rest.length === 0,
  );
  if (!right)
    return refuse(context, `must be name=number or name=none, separated by commas; names: ${QUOTA_NAMES.join(", ")}`);
  const given = pairs.map(([name = "", value]) => [name, value === "none" ? null : Number(value)]);
  return { ...DEFAULT_QUOTAS, ...(Object.fromEntries(given) as Partial<Quotas>) };
});

/** Hashes of 32 bytes, separated by commas. */
export const codeHashes = z.string().transform((text, context) => {
  const hashes = text.split(",").map((part) => part.trim().toLowerCase());
  return hashes.every((hash) => /^0x[0-9a-f]{64}$/.test(hash))
    ? hashes
    : refuse(context, "must be hashes (0x and 64 hex digits), separated by commas");
});

/** An absolute http(s) URL without a trailing slash, so that paths can be appended. */
export const httpUrl = z.string().transform((text, context) => {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    return refuse(context, "must be an http:// or https:// URL");
  }
  return text.replace(/\/+$/, "");
});

/** URLs of nodes. No message contains one: it may have a provider's key. */
export const nodeUrls = z.string().transform((text, context) => {
  const parsed = text
    .split(",")
    // None is left out, because other settings name nodes by their places.
    .map((part) => httpUrl.safeParse(part.trim()));
  const urls = parsed.flatMap(({ data }) => (data === undefined ? [] : [data]));
  const wrong = parsed.findIndex(({ success }) => !success) + 1;
  const message =
    wrong > 0
      ? `must be http:// or https:// URLs, separated by commas; number ${wrong.toString()} is not one`
      : urls.length === 0 || urls.length > MOST_NODES
        ? `must have 1 to ${MOST_NODES.toString()} URLs`
        : new Set(urls.map((url) => new URL(url).href)).size < urls.length
          ? "must not name a URL twice"
          : null;
  return message === null ? urls : refuse(context, message);
});

/** A base URL: paths are appended to it, so it has no query, fragment or credentials. */
export const publicUrl = httpUrl.refine((text) => {
  const url = URL.parse(text);
  return url !== null && url.search === "" && url.hash === "" && url.username === "" && url.password === "";
}, "must not contain a query, a fragment or credentials");

/** The text is never part of a message: it may contain a password. */
export const databaseUrl = z.string().superRefine((text, context) => {
  if (/^postgres(ql)?:/.test(text)) {
    const url = URL.parse(text);
    if (url === null || !/^postgres(ql)?:\/\//.test(text) || url.pathname.length < 2) {
      refuse(
        context,
        "must be postgres://user:password@host:port/database; write special characters of the password as %XX",
      );
    }
  } else if (!/^file:./.test(text)) {
    refuse(context, "must be file:<path> or postgres://user:password@host:port/database");
  }
});

/** Values separated by commas. Ignores spaces and empty values. */
export const list = z.string().transform((text) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== ""),
);

function wholeNumbers(least: number, most: number) {
  const one = wholeNumber(least, most);
  const message = `must be whole numbers from ${least.toString()} to ${most.toString()}, separated by commas`;
  return list
    .refine((texts) => texts.every((text) => one.safeParse(text).success), message)
    .transform((texts) => texts.map(Number));
}

/** Numbers of lanes. */
export const laneNumbers = wholeNumbers(0, MOST_LANES - 1);

export const nodeCount = wholeNumber(1, MOST_NODES);

/** Places in the list of nodes. */
export const nodeNumbers = wholeNumbers(1, MOST_NODES);

function isNetwork(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** Names of address ranges that `proxy-addr`, which Express uses, knows. */
const RANGES = ["loopback", "linklocal", "uniquelocal"];

/** Addresses, networks such as `10.0.0.0/8`, and names of ranges. */
export const addresses = list.superRefine((parts, context) => {
  const wrong = parts.filter((part) => !RANGES.includes(part) && !isNetwork(part));
  if (wrong.length === 0) return;
  const message = `unknown value ${wrong.join(", ")}; must contain addresses, networks such as 10.0.0.0/8, or ${RANGES.join(", ")}`;
  refuse(context, message);
});

/** A subset of `names`, without duplicates, in the order of `names`. */
export function subsetOf<const T extends string>(names: readonly T[]) {
  return list.transform((parts, context): T[] => {
    const unknown = parts.filter((part) => !names.some((name) => name === part));
    if (unknown.length > 0 || parts.length === 0) {
      const what = unknown.length > 0 ? `unknown value ${unknown.join(", ")}; ` : "";
      return refuse(context, `${what}must contain one or more of ${names.join(", ")}`);
    }
    return names.filter((name) => parts.includes(name));
  });
}

/** Keys of 32 bytes in base64, base64url or hex. A key's id is a hash of the key, so the order may change. */
export const secretKeys = list.transform((parts, context) => {
  const keys = parts.map(readKey);
  const known = keys.filter((key) => key !== null);
  if (known.length === keys.length) return known;
  return refuse(context, "must contain keys of 32 bytes each, in base64 or hex (create one: openssl rand -base64 32)");
});

function readKey(text: string): { id: string; bytes: Uint8Array } | null {
  const hex = /^[0-9a-fA-F]{64}$/.test(text);
  const base64 = /^[A-Za-z0-9+/_-]{43}=?$/.test(text);
  if (!hex && !base64) return null;
  const bytes = new Uint8Array(Buffer.from(text, hex ? "hex" : "base64url"));
  return { id: createHash("sha256").update(bytes).digest("hex").slice(0, 8), bytes };
}

/*
 * Comma-separated addresses of IPFS nodes (multiaddrs). Only TCP: the built-in node speaks nothing else. libp2p is not used for
 * this because it takes long to load, and may not be installed.
 */

const NAME = String.raw`(?=[^/]{1,253}(?:/|$))[\w-]{1,63}(?:\.[\w-]{1,63})*`;
const IP = String.raw`/(?<kind>ip4|ip6)/(?<ip>[\dA-Fa-f.:]+)`;
const TCP = String.raw`/tcp/(?<port>\d{1,5})`;
const HOST = `(?:${IP}|/dns[46]?/${NAME})`;
const LISTEN = new RegExp(`^${IP}${TCP}$`);
const ANNOUNCED = new RegExp(`^${HOST}${TCP}$`);
const PEER = new RegExp(`^(?:${HOST}${TCP}|/dnsaddr/${NAME})/p2p/(?<peer>[^/]+)$`);

/** Listen addresses. Port 0 picks a free port. */
export const listenAddresses = list.refine(
  (all) => areAddresses(all, LISTEN, 0),
  "must list addresses such as /ip4/0.0.0.0/tcp/4001",
);

/** Public addresses of a node. */
export const announcedAddresses = list.refine(
  (all) => areAddresses(all, ANNOUNCED, 1),
  "must list addresses such as /ip4/<address>/tcp/4001 or /dns4/<name>/tcp/4001",
);

/** Bootstrap peers. `none` gives an empty list. */
export const bootstrapPeers = list
  .refine(
    (all) => all.join() === "none" || areAddresses(all, PEER, 1),
    "must be none, or list addresses of peers such as /ip4/<address>/tcp/4001/p2p/<peer id>",
  )
  .transform((all) => (all.join() === "none" ? [] : all));

function areAddresses(all: string[], shape: RegExp, leastPort: number): boolean {
  const parts = all.map((text) => shape.exec(text)?.groups ?? null);
  return (
    all.length > 0 &&
    parts.every((found) => {
      if (found === null) return false;
      const { kind, ip, port, peer } = found;
      const isIp = ip === undefined || (kind === "ip4" ? isIPv4(ip) : isIPv6(ip));
      const isPort = port === undefined || (Number(port) >= leastPort && Number(port) <= 65_535);
      return isIp && isPort && (peer === undefined || isPeer(peer));
    })
  );
}

/** A peer id: the hash of the public key, in base58 or as a CID. */
function isPeer(id: string): boolean {
  try {
    if (/^(Qm|1)/.test(id)) decodeMultihash(base58btc.decode(`z${id}`));
    else CID.parse(id);
    return true;
  } catch {
    // Neither base58 nor a CID.
    return false;
  }
}

/** Said wherever XPUB is shown or asked for: from a private key that is not hardened and this key, the parent private key follows (BIP-32). */
export const XPUB_IS_PRIVATE =
  "Keep XPUB private: together with the private key of any one wallet it gives away all wallets.";

/** Steps of `m/44'/60'/0'`, the root of the wallets, and the number of its last step. */
const DEPTH = 3;
const LAST_STEP = 0x8000_0000;
const ADVICE = `set it to what \`npm run cli -- keys check\` prints where the seed is. ${XPUB_IS_PRIVATE}`;

/** The extended public key of the wallets' root (BIP-32). Its error messages never contain the value. */
export const extendedPublicKey = z.string().transform((text, context) => {
  if (/^[a-z]prv/i.test(text)) {
    return refuse(
      context,
      `must not be an extended private key: it signs for every wallet. Remove it from the settings and ${ADVICE}`,
    );
  }
  const node = parse(text);
  // ethers does not compare the checksum.
  if (!(node instanceof HDNodeVoidWallet) || node.extendedKey !== text)
    return refuse(context, `must be an extended public key (xpub...): ${ADVICE}`);
  if (node.depth !== DEPTH || node.index !== LAST_STEP)
    return refuse(context, `is the extended public key of another derivation path than m/44'/60'/0': ${ADVICE}`);
  return text;
});

function parse(text: string): HDNodeWallet | HDNodeVoidWallet | null {
  try {
    return text.startsWith("xpub") ? HDNodeWallet.fromExtendedKey(text) : null;
  } catch {
    // Not base58, another length, or no point of the curve.
    return null;
  }
}
