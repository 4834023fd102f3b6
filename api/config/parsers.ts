import { createHash } from "node:crypto";
import { isIP } from "node:net";

import { z } from "zod";

import { MOST_LANES } from "./lanes.ts";

/*
 * Parsers for settings. Each parses the text of one environment variable. Its error message follows the variable's name.
 */

/** A whole number, written in decimal digits. */
export function wholeNumber(least: number, most: number) {
  const message = `must be a whole number from ${least.toString()} to ${most.toString()}`;
  return z
    .string()
    .regex(/^\d{1,16}$/, message)
    .transform(Number)
    .refine((value) => value >= least && value <= most, message);
}

/** An absolute http(s) URL without a trailing slash, so that paths can be appended. */
export const httpUrl = z.string().transform((text, context) => {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    context.addIssue({ code: "custom", message: "must be an http:// or https:// URL" });
    return z.NEVER;
  }
  return text.replace(/\/+$/, "");
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
      const message =
        "must be postgres://user:password@host:port/database; write special characters of the password as %XX";
      context.addIssue({ code: "custom", message });
    }
  } else if (!/^file:./.test(text)) {
    context.addIssue({ code: "custom", message: "must be file:<path> or postgres://user:password@host:port/database" });
  }
});

/** Values separated by commas. Ignores spaces and empty values. */
export const list = z.string().transform((text) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== ""),
);

/** Numbers of lanes. */
export const laneNumbers = list.transform((texts, context) => {
  const lane = wholeNumber(0, MOST_LANES - 1);
  if (texts.every((text) => lane.safeParse(text).success)) return texts.map(Number);
  const most = (MOST_LANES - 1).toString();
  context.addIssue({ code: "custom", message: `must be whole numbers from 0 to ${most}, separated by commas` });
  return z.NEVER;
});

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
  context.addIssue({ code: "custom", message });
});

/** A subset of `names`, without duplicates, in the order of `names`. */
export function subsetOf<const T extends string>(names: readonly T[]) {
  return list.transform((parts, context): T[] => {
    const unknown = parts.filter((part) => !names.some((name) => name === part));
    if (unknown.length > 0 || parts.length === 0) {
      const what = unknown.length > 0 ? `unknown value ${unknown.join(", ")}; ` : "";
      context.addIssue({ code: "custom", message: `${what}must contain one or more of ${names.join(", ")}` });
      return z.NEVER;
    }
    return names.filter((name) => parts.includes(name));
  });
}

/** Keys of 32 bytes in base64, base64url or hex. A key's id is a hash of the key, so the order may change. */
export const secretKeys = list.transform((parts, context) => {
  const keys = parts.map(readKey);
  if (keys.some((key) => key === null)) {
    context.addIssue({
      code: "custom",
      message: "must contain keys of 32 bytes each, in base64 or hex (create one: openssl rand -base64 32)",
    });
    return z.NEVER;
  }
  return keys.filter((key) => key !== null);
});

function readKey(text: string): { id: string; bytes: Uint8Array } | null {
  const hex = /^[0-9a-fA-F]{64}$/.test(text);
  const base64 = /^[A-Za-z0-9+/_-]{43}=?$/.test(text);
  if (!hex && !base64) return null;
  const bytes = new Uint8Array(Buffer.from(text, hex ? "hex" : "base64url"));
  return { id: createHash("sha256").update(bytes).digest("hex").slice(0, 8), bytes };
}
