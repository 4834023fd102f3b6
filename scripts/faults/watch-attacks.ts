import { resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { markdownTable } from "../docs/markdown.ts";
import { type Attack, ATTACKS } from "./attacks.ts";
import type { Engine } from "./options.ts";
import { Target } from "./target.ts";

/** Milliseconds after which an attack ends. */
const LONGEST = 300_000;
/** Milliseconds from the beginning of an attack to the first mint of the other app. */
const HEAD_START = 300;
/** Milliseconds between two calls of the other app. */
const CALL_EVERY = 100;

/**
 * Attacks a service, each time a new one. It needs Linux, which has many loopback addresses and reports the peak of a process's
 * memory. @param only parts of the names of the attacks. @param checkout folder of the version that is attacked.
 * @returns a table of Markdown: what happened to the attacker, to another app and to the memory of the service.
 */
export async function runAttacks(engine: Engine, only: readonly string[], checkout: string): Promise<string> {
  const rows: string[][] = [];
  for (const attack of ATTACKS.filter(({ name }) => only.some((text) => name.includes(text)))) {
    console.error(`${attack.name} ...`);
    const row = [attack.name, ...(await measure(attack, engine, resolve(checkout)))];
    console.error(row.join(" | "));
    rows.push(row);
  }
  return markdownTable(["Attack", "Attacker", "Slowest call of another app", "Its mint", "Memory above idle"], rows);
}

async function measure(attack: Attack, engine: Engine, checkout: string): Promise<string[]> {
  const { node, settings } = attack;
  const own = { ...(settings === undefined ? {} : { settings }), ...(node === undefined ? {} : { node }) };
  const target = await Target.launch({ engine, checkout, ...own });
  try {
    let make: () => Promise<string>;
    try {
      make = await inTime(attack.prepare(target));
    } catch (error) {
      return [`not made: ${messageOf(error).slice(0, 200)}`, "", "", mebibytes(await target.peak())];
    }
    await target.rest();
    return await watch(target, make);
  } finally {
    await target.stop();
  }
}

/** Makes the attack, while the other app calls and mints. @returns the cells of the table. */
async function watch(target: Target, make: () => Promise<string>): Promise<string[]> {
  const over = new AbortController();
  let [slowest, refused, peak] = [0, 0, 0];
  const calling = (async () => {
    while (!over.signal.aborted && !target.stopped) {
      const { status, took } = await target.call(target.other, "GET", "/v1/collections?limit=1");
      slowest = Math.max(slowest, took / 1_000);
      if (status !== 200) refused += 1;
      peak = Math.max(peak, await target.peak());
      await wait(CALL_EVERY);
    }
  })();
  const attacking = inTime(make()).catch(messageOf);
  const mint = () => target.otherMints().catch(messageOf);
  await wait(HEAD_START);
  const first = mint();
  const attacker = await attacking;
  const mints = [await first, await mint()];
  over.abort();
  await calling;
  peak = Math.max(peak, await target.peak());
  const seconds = mints.filter((one) => typeof one === "number");
  return [
    attacker + (target.stopped ? `; the service stopped: ${target.end}` : ""),
    `${slowest.toFixed(1)} s${refused === 0 ? "" : `, ${refused.toString()} failed`}`,
    mints.find((one) => typeof one === "string") ?? `${Math.max(...seconds).toFixed(1)} s`,
    mebibytes(peak),
  ];
}

function mebibytes(amount: number): string {
  return `${amount.toFixed(0)} MiB`;
}

/** @throws when the work takes too long. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = wait(LONGEST, undefined, { signal: over.signal }).then(() => {
    throw new Error(`not over after ${(LONGEST / 1_000).toString()} s`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
    // The timer that was ended, and work that is late, may still fail.
    for (const loser of [late, work]) loser.catch(() => undefined);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
