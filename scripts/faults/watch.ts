import { setTimeout as wait } from "node:timers/promises";

import { markdownTable } from "../docs/markdown.ts";
import { NodeProcess } from "../scene/node.ts";
import { residentOf, resetPeak } from "../scene/resident.ts";
import { type Attack, ATTACKS } from "./attacks.ts";
import { Checker, isClean } from "./check.ts";
import { CALLER_FAULTS } from "./faults-of-callers.ts";
import type { Engine } from "./options.ts";
import { World } from "./world.ts";

/** Milliseconds after which an attack ends. */
const LONGEST = 300_000;
/** Milliseconds from the beginning of an attack to the first mint of the other app. */
const HEAD_START = 300;
/** Milliseconds between two calls of the other app. */
const CALL_EVERY = 100;
/** Milliseconds for which the service rests before its memory counts as idle. */
const REST = 3_000;
/** A service with one role less than usual: nothing here speaks to the IPFS network. */
const ROLES = "api,relayer,indexer,webhooks,media";

/** What the checker says when it has found nothing. */
const CLEAN = "nothing lost or doubled";

/** Those of the campaign, and those that are too large for it. */
function allAttacks(): Attack[] {
  const ofCampaign = CALLER_FAULTS.map((fault) => ({
    name: fault.name,
    prepare: (world: World) =>
      Promise.resolve(async () => `${(await fault.inject(world, mint(world))).toString()} times`),
  }));
  return [...ofCampaign, ...ATTACKS];
}

/**
 * Attacks a service, each time a new one. It needs Linux, which has many loopback addresses and reports the peak of a process's
 * memory. Prints a table of Markdown: what happened to the attacker, to another app and to the memory of the service, and what the
 * checker found.
 * @param only parts of the names of the attacks. @returns whether the checker found nothing.
 */
export async function runAttacks(engine: Engine, only: readonly string[]): Promise<boolean> {
  const rows: string[][] = [];
  for (const attack of allAttacks().filter(({ name }) => only.some((text) => name.includes(text)))) {
    console.error(`${attack.name} ...`);
    const row = [attack.name, ...(await measure(attack, engine))];
    console.error(row.join(" | "));
    rows.push(row);
  }
  const head = ["Attack", "Attacker", "Slowest call of another app", "Its mint", "Memory above idle", "Check"];
  console.log(markdownTable(head, rows));
  return rows.length > 0 && rows.every((row) => row.at(-1) === CLEAN);
}

async function measure({ node, settings, prepare }: Attack, engine: Engine): Promise<string[]> {
  const own = { ROLES, ...settings };
  const world = await World.alone({ engine, settings: own, node: node ?? (() => NodeProcess.underLoad()) });
  try {
    const make = await inTime(prepare(world));
    await wait(REST);
    const idle = (await residentOf(world.service.only.pid))?.now ?? 0;
    await resetPeak(world.service.only.pid);
    const cells = await watch(world, make);
    const peak = world.service.only.exited ? 0 : ((await residentOf(world.service.only.pid))?.peak ?? 0) - idle;
    return [...cells, `${peak.toFixed(0)} MiB`, await check(world)];
  } catch (error) {
    return [`not made: ${messageOf(error).slice(0, 200)}`, "", "", "", ""];
  } finally {
    await world.stop(false);
  }
}

/** Makes the attack, while the other app calls and mints. @returns the cells of the table. */
async function watch(world: World, make: () => Promise<string>): Promise<string[]> {
  const over = new AbortController();
  let [slowest, refused] = [0, 0];
  const calling = (async () => {
    while (!over.signal.aborted && !world.service.only.exited) {
      const { status, took } = await world.call(world.app, "GET", "/v1/collections?limit=1");
      slowest = Math.max(slowest, took / 1_000);
      if (status !== 200) refused += 1;
      await wait(CALL_EVERY);
    }
  })();
  const attacking = inTime(make()).catch(messageOf);
  await wait(HEAD_START);
  const first = mint(world).catch(messageOf);
  const attacker = await attacking;
  const mints = [await first, await mint(world).catch(messageOf)];
  over.abort();
  await calling;
  const seconds = mints.filter((one) => typeof one === "number");
  const [end] = world.service.unexpectedEnds();
  return [
    end === undefined ? attacker : `${attacker}; ${end}`,
    `${slowest.toFixed(1)} s${refused === 0 ? "" : `, ${refused.toString()} failed`}`,
    mints.find((one) => typeof one === "string") ?? `${Math.max(...seconds).toFixed(1)} s`,
  ];
}

/** A mint of the other app. @returns the seconds until it is completed. @throws when it is not. */
async function mint(world: World): Promise<number> {
  const started = performance.now();
  const body = { collection_address: world.erc721, to_address: world.wallets[0] };
  await world.completed(world.app, String(await world.client.accept("/v1/nfts", body)));
  return (performance.now() - started) / 1_000;
}

/** What the checker of the campaign finds. */
async function check(world: World): Promise<string> {
  const { accepted } = world.attacker;
  const result = await new Checker(world).check(accepted);
  return isClean(result) ? CLEAN : JSON.stringify(result);
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
