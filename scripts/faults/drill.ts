import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";

import { getAddress, hexlify } from "ethers";

import { plural } from "../../api/shared/text.ts";
import { WebhookReceiver } from "../scene/receiver.ts";
import { until } from "../scene/until.ts";
import { type Check, checkPromises, type Drilled, type Mint, partition } from "./drill-checks.ts";
import { Installation } from "./installation.ts";
import type { Engine } from "./options.ts";

/** Requests that are accepted before the backup, while it runs, and after it, before the disk is lost. */
const BEFORE = 40;
const AFTER = 40;
const CAP = 100;
const STEP = { within: 180_000 };

/**
 * Rehearses the loss of a disk: backs up a service under load, lets the load go on, kills the service, deletes its data,
 * restores, reconciles, starts, and compares. Everything is scratch: a node, a chain, and keys of its own.
 */
export async function drill(engine: Engine, say: (line: string) => void): Promise<Check[]> {
  const receiver = await WebhookReceiver.listen();
  const world = await Installation.create({ engine });
  try {
    return await rehearse(world, receiver, say);
  } finally {
    await world.stop();
    await receiver.close();
  }
}

async function rehearse(world: Installation, receiver: WebhookReceiver, say: (line: string) => void): Promise<Check[]> {
  const began = performance.now();
  const step = (text: string) => {
    say(`${((performance.now() - began) / 1_000).toFixed(1).padStart(6)} s  ${text}`);
  };
  // Nobody delivers webhooks yet: those of the backup wait for the restored service.
  await world.start({ ROLES: "api,relayer,indexer,media" });
  step("A service runs; its keys are not on the disk that will be lost.");
  const app = await world.app("drill");
  const capped = await world.collection(app, { mint_supply_count: CAP });
  const drilled: Drilled = { world, app, receiver, capped, open: await world.collection(app), cap: CAP };
  await world.ok(app, "PUT", "/v1/webhook", { url: receiver.url });
  const load = new Load(drilled);
  load.start();
  await until("requests before the backup", () => load.accepted.length >= BEFORE, STEP);
  const before = load.accepted.length;
  const folder = `${world.folder}/backup`;
  await world.cli("backup", folder);
  step(
    `backup: made and checked while requests came in (${before.toString()} before it, ${load.accepted.length.toString()} at its end).`,
  );
  const lastInTime = load.accepted.length;
  await until("requests after the backup", () => load.accepted.length >= lastInTime + AFTER, STEP);
  await until("results after the backup", () => someCompleted(drilled, load), STEP);
  await loseAll(world, load, step);
  step((await world.cli("restore", folder)).split("\n")[0] ?? "");
  step(await refusedStart(world));
  const reconciled = JSON.parse(await world.cli("reconcile", "--json")) as Reconciled;
  step(describe(reconciled));
  const exact: Check = {
    promise: "What reconcile adopts leaves every total exact",
    holds: reconciled.comparison.differences === 0,
    detail: plural(reconciled.comparison.differences, "difference"),
  };
  await world.start();
  const known = await partition(drilled, load.accepted);
  step(
    `The service runs again. It knows ${known.inBackup.length.toString()} of the requests; ${known.after.length.toString()} came after the backup.`,
  );
  const checks = [exact, ...(await checkPromises(drilled, known))];
  for (const { promise, holds, detail } of checks) step(`${holds ? "holds  " : "BROKEN "} ${promise}: ${detail}.`);
  return checks;
}

/** Kills the service in the middle of the load, and deletes its data. */
async function loseAll(world: Installation, load: Load, step: (text: string) => void): Promise<void> {
  const stopped = load.stop();
  await world.kill();
  await stopped;
  await world.loseDisk();
  step(`kill -9, and the disk is lost, after ${plural(load.accepted.length, "accepted request")}.`);
  // What was sent is mined, as the pages about back-ups ask for.
  await world.node.mine();
}

interface Reconciled {
  recovery: { transactions: number; recognised: number; added: number; uncertain: string[] } | null;
  comparison: { differences: number; told: { what: string; stored: string; chain: string }[] };
}

function describe({ recovery, comparison }: Reconciled): string {
  if (recovery === null) return "reconcile: nothing was sent after the backup.";
  return (
    `reconcile: ${plural(recovery.transactions, "unknown transaction")} on chain, with ${plural(recovery.recognised, "request")} of the backup and ` +
    `${recovery.added.toString()} unknown ones; ${plural(recovery.uncertain.length, "waiting request")} of the backup ran already.` +
    comparison.told
      .map(({ what, stored, chain }) => `\n          ${what}: stored ${stored}; on chain ${chain}`)
      .join("")
  );
}

/** Whether the newest but twenty requests are completed. */
async function someCompleted({ world, app }: Drilled, load: Load): Promise<boolean> {
  const late = load.accepted.at(-20);
  if (late === undefined) return false;
  return (await world.ok(app, "GET", `/v1/requests/${late.id}`))["status"] === "completed";
}

/** The service does not start with an old copy. */
async function refusedStart(world: Installation): Promise<string> {
  const message = await world.start().then(
    () => null,
    (error: unknown) => (error as Error).message,
  );
  const why = /it is an old backup, or another service uses the same seed/.exec(message ?? "")?.[0];
  if (why === undefined) throw new Error(`The service should have refused to start: ${message ?? "it started"}`);
  return `start: refused, because the chain has transactions that the copy does not know ("${why}").`;
}

/** Calls that are made at the same time. */
const WIDTH = 4;
/** Pause between two calls, in milliseconds. */
const PACE = 50;

/** An app that mints until it is stopped. */
class Load {
  /** In the order of their answers. */
  readonly accepted: Mint[] = [];
  readonly #drilled: Drilled;
  #stopped = false;
  #running: Promise<unknown> = Promise.resolve();
  #made = 0;

  constructor(drilled: Drilled) {
    this.#drilled = drilled;
  }

  start(): void {
    this.#running = Promise.all(Array.from({ length: WIDTH }, () => this.#work()));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #work(): Promise<void> {
    while (!this.#stopped) {
      await this.#mint();
      await wait(PACE);
    }
  }

  /** Every third has a picture that the service copies. */
  async #mint(): Promise<void> {
    const { world, app, capped, open } = this.#drilled;
    const number = this.#made++;
    const to = getAddress(hexlify(randomBytes(20)));
    const image = `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" id="p${number.toString()}"/>`;
    const body = {
      collection_address: number % 2 === 0 ? capped : open,
      to_address: to,
      name: `Drill ${number.toString()}`,
      ...(number % 3 === 0 ? { image, copy_media: true } : {}),
    };
    const key = randomUUID();
    const headers = { "idempotency-key": key };
    // A full collection refuses it. Whether a call was stored that got no answer is unknown, as for any caller.
    const { status, text } = await world.call(app, "POST", "/v1/nfts", body, { headers });
    if (status !== 200) return;
    this.accepted.push({ id: (JSON.parse(text) as { request_id: string }).request_id, key, body, to });
  }
}
