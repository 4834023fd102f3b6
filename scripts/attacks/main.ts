import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";

import { type Databases, sqliteFiles, startPostgres } from "../postgres/databases.ts";
import { markdownTable } from "../docs/markdown.ts";
import { ROOT } from "../scene/program.ts";
import { type Attack, ATTACKS } from "./attacks.ts";
import { Target } from "./target.ts";

/**
 * `npm run bench:attacks [-- --engine postgres] [--checkout DIR] [--only TEXT] [--json FILE]`: attacks a service, each time a new
 * one, and prints what happened to the attacker, to another app, and to the memory of the service. `--checkout` names a folder
 * with another version of the project, whose packages are installed. Everything listens on loopback. It needs Linux, which has
 * many loopback addresses and reports the peak of a process's memory.
 */

/** Milliseconds after which an attack ends. */
const LONGEST = 300_000;
/** Milliseconds from the beginning of an attack to the first mint of the other app. */
const HEAD_START = 300;
/** Milliseconds between two calls of the other app. */
const CALL_EVERY = 100;

interface Result {
  attack: string;
  attacker: string;
  /** The slowest call of the other app, in seconds. */
  slowest: number;
  /** Calls of the other app that got another answer than 200. */
  refused: number;
  /** Seconds until the slowest mint of the other app was completed, or why none was. */
  mint: number | string;
  /** MiB. */
  peak: number;
}

const { values } = parseArgs({
  options: {
    engine: { type: "string", default: "sqlite" },
    checkout: { type: "string", default: ROOT },
    only: { type: "string", default: "" },
    json: { type: "string" },
  },
});
if (values.engine !== "sqlite" && values.engine !== "postgres") {
  console.error("--engine must be sqlite or postgres");
  process.exit(2);
}

const results: Result[] = [];
const server = values.engine === "postgres" ? await startPostgres() : null;
try {
  for (const attack of ATTACKS.filter(({ name }) => name.includes(values.only))) {
    console.error(`${attack.name} ...`);
    const result = await measure(attack, server ?? sqliteFiles);
    console.error(JSON.stringify(result));
    results.push(result);
    // Written after each attack, so that a later failure loses nothing.
    if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`);
  }
} finally {
  await server?.stop();
}
console.log(tableOf(results));

async function measure(attack: Attack, databases: Databases): Promise<Result> {
  const { name, node, settings } = attack;
  const checkout = resolve(values.checkout);
  const target = await Target.start({
    ...{ checkout, databases },
    ...(settings === undefined ? {} : { settings }),
    ...(node === undefined ? {} : { node }),
  });
  try {
    let make: () => Promise<string>;
    try {
      make = await inTime(attack.prepare(target));
    } catch (error) {
      const attacker = `not made: ${messageOf(error).slice(0, 200)}`;
      return { attack: name, attacker, slowest: 0, refused: 0, mint: "", peak: await peakOf(target) };
    }
    await target.rest();
    return { attack: name, ...(await watch(target, make)) };
  } finally {
    await target.stop();
  }
}

/** Makes the attack, while the other app calls and mints. */
async function watch(target: Target, make: () => Promise<string>): Promise<Omit<Result, "attack">> {
  const over = new AbortController();
  let [slowest, refused, peak] = [0, 0, 0];
  const calling = (async () => {
    while (!over.signal.aborted && !target.stopped) {
      const { status, took } = await target.call(target.other, "GET", "/v1/collections?limit=1");
      slowest = Math.max(slowest, took / 1_000);
      if (status !== 200) refused += 1;
      peak = Math.max(peak, await peakOf(target));
      await wait(CALL_EVERY);
    }
  })();
  const attacking = inTime(make()).catch(messageOf);
  await wait(HEAD_START);
  const first = mintOf(target);
  const attacker = await attacking;
  const mints = [await first, await mintOf(target)];
  over.abort();
  await calling;
  peak = Math.max(peak, await peakOf(target));
  const failed = mints.find((mint) => typeof mint === "string");
  const mint = failed ?? Math.max(...mints.filter((one) => typeof one === "number"));
  const end = target.stopped ? `; the service stopped: ${target.end}` : "";
  return { attacker: attacker + end, slowest, refused, mint, peak };
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

async function mintOf(target: Target): Promise<number | string> {
  try {
    return await target.otherMints();
  } catch (error) {
    return messageOf(error);
  }
}

/** MiB; 0 when the service has stopped. */
async function peakOf(target: Target): Promise<number> {
  return target.stopped ? 0 : target.peak().catch(() => 0);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The results as a table of Markdown. */
function tableOf(rows: readonly Result[]): string {
  const head = ["Attack", "Attacker", "Slowest call of another app", "Its mint", "Memory above idle"];
  const lines = rows.map(({ attack, attacker, slowest, refused, mint, peak }) => [
    attack,
    attacker,
    `${slowest.toFixed(1)} s${refused === 0 ? "" : `, ${refused.toString()} failed`}`,
    typeof mint === "string" ? mint : `${mint.toFixed(1)} s`,
    `${peak.toFixed(0)} MiB`,
  ]);
  return markdownTable(head, lines);
}
