import { plural } from "../../api/shared/text.ts";
import { until, waitFor } from "../scene/until.ts";
import { type Check, checkPromises, partition } from "./checks.ts";
import { Load } from "./load.ts";
import { type Engine, World } from "./world.ts";

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
  const world = await World.create(engine);
  try {
    return await rehearse(world, engine, say);
  } finally {
    await world.stop();
  }
}

async function rehearse(world: World, engine: Engine, say: (line: string) => void): Promise<Check[]> {
  const began = performance.now();
  const step = (text: string) => {
    say(`${((performance.now() - began) / 1_000).toFixed(1).padStart(6)} s  ${text}`);
  };
  // Nobody delivers webhooks yet: those of the backup wait for the restored service.
  await world.start({ ROLES: "api,relayer,indexer,media" });
  step(
    `A service runs (${engine === "sqlite" ? "SQLite" : "PostgreSQL"}); its keys are not on the disk that will be lost.`,
  );
  const collections = { capped: await collection(world, CAP), open: await collection(world, null), cap: CAP };
  await world.call("PUT", "/v1/webhook", { url: world.receiver.url });
  const load = new Load(world, [collections.capped, collections.open]);
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
  await until("results after the backup", () => someCompleted(world, load), STEP);
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
  const known = await partition(world, load);
  step(
    `The service runs again. It knows ${known.inBackup.length.toString()} of the requests; ${known.after.length.toString()} came after the backup.`,
  );
  const checks = [exact, ...(await checkPromises(world, known, collections))];
  for (const { promise, holds, detail } of checks) step(`${holds ? "holds  " : "BROKEN "} ${promise}: ${detail}.`);
  return checks;
}

/** Kills the service in the middle of the load, and deletes its data. */
async function loseAll(world: World, load: Load, step: (text: string) => void): Promise<void> {
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

async function collection(world: World, cap: number | null): Promise<string> {
  const body = { type: "ERC721", name: "Drill", symbol: "DRL", ...(cap === null ? {} : { mint_supply_count: cap }) };
  const { body: answer } = await world.call("POST", "/v1/collections", body);
  const look = async () => {
    const { body: request } = await world.call("GET", `/v1/requests/${String(answer["request_id"])}`);
    return request["status"] === "completed" ? String(request["nft_collection"]) : null;
  };
  return waitFor("a collection", look, STEP);
}

/** Whether the newest but twenty requests are completed. */
async function someCompleted(world: World, load: Load): Promise<boolean> {
  const late = load.accepted.at(-20);
  if (late === undefined) return false;
  const { body } = await world.call("GET", `/v1/requests/${late.id}`);
  return body["status"] === "completed";
}

/** The service does not start with an old copy. */
async function refusedStart(world: World): Promise<string> {
  const message = await world.start().then(
    () => null,
    (error: unknown) => (error as Error).message,
  );
  const why = /it is an old backup, or another service uses the same seed/.exec(message ?? "")?.[0];
  if (why === undefined) throw new Error(`The service should have refused to start: ${message ?? "it started"}`);
  return `start: refused, because the chain has transactions that the copy does not know ("${why}").`;
}
