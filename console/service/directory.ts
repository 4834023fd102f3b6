import { type Signal, signal } from "@preact/signals";

import { answerOf, type Shape } from "../../client/client.ts";
import { client } from "./client.ts";
import { currentApp } from "./session.ts";

/* Names for addresses. What a screen asks for in one moment is read by one call, and remembered while the page is open. */

/** Addresses that one call reads. */
const AT_ONCE = 30;
/** Addresses that are remembered. */
const MOST = 3_000;
/** An address without a name may get one: a new wallet, a new collection. Milliseconds until it is asked for again. */
const UNKNOWN_FOR = 10_000;

interface Entry<Item> {
  found: Signal<Item | null>;
  askedAt: number;
}

/** @param read what the app has at these addresses, which are separated by commas. */
function directory<Item extends { address: string }>(read: (addresses: string) => Promise<readonly Item[]>) {
  const known = new Map<string, Entry<Item>>();
  const wanted = new Set<string>();
  let app: string | null = null;

  async function readWanted(): Promise<void> {
    const addresses = [...wanted];
    wanted.clear();
    for (let start = 0; start < addresses.length; start += AT_ONCE) {
      const part = addresses.slice(start, start + AT_ONCE);
      try {
        for (const item of await read(part.join(","))) {
          const entry = known.get(item.address.toLowerCase());
          if (entry !== undefined) entry.found.value = item;
        }
      } catch {
        // The addresses are shown without names. The next screen asks again.
        for (const address of part) known.delete(address);
      }
    }
  }

  /** Null: not known yet, or the app has nothing there. A component that asks is drawn again when it is known. */
  return (address: string): Item | null => {
    const now = currentApp()?.app_id ?? null;
    if (now !== app || known.size >= MOST) known.clear();
    app = now;
    const key = address.toLowerCase();
    const entry = known.get(key) ?? { found: signal<Item | null>(null), askedAt: -Infinity };
    known.set(key, entry);
    if (entry.found.value === null && performance.now() - entry.askedAt > UNKNOWN_FOR) {
      entry.askedAt = performance.now();
      if (wanted.size === 0) queueMicrotask(() => void readWanted());
      wanted.add(key);
    }
    return entry.found.value;
  };
}

/** The app's wallet at an address. */
export const walletAt = directory(async (addresses) => {
  const params = { query: { addresses } };
  return (await answerOf(client().GET("/v1/accounts", { params }))).wallets;
});

/** The app's collection at an address. */
export const collectionAt = directory<Shape<"Collection">>(async (addresses) => {
  const params = { query: { addresses } };
  return (await answerOf(client().GET("/v1/collections", { params }))).collections;
});
