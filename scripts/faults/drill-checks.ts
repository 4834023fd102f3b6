import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";

import { getAddress, hexlify } from "ethers";

import { ERC721Collection__factory } from "../../contracts/generated/factories/ERC721Collection__factory.ts";
import { withDatabase } from "../scene/scene.ts";
import type { WebhookReceiver } from "../scene/receiver.ts";
import type { App, Installation } from "./installation.ts";

/** A mint that the service accepted. Each goes to an address of its own, so the chain shows how often it ran. */
export interface Mint {
  id: string;
  key: string;
  body: object;
  to: string;
}

/** What is drilled: a service, its app, and two collections of the app. */
export interface Drilled {
  world: Installation;
  app: App;
  receiver: WebhookReceiver;
  capped: string;
  open: string;
  cap: number;
}

/** A promise, and whether it held. */
export interface Check {
  promise: string;
  holds: boolean;
  detail: string;
}

/** The requests of the load, by what the restored service knows of them. */
interface Known {
  inBackup: Mint[];
  after: Mint[];
}

interface Facts extends Known {
  /** Final status by request. */
  statuses: Map<string, { status: string; error: string | null }>;
  /** Tokens on chain by their owner. */
  owned: Map<string, number>;
  /** Owners of tokens according to the database. */
  listed: Set<string>;
  minted: number[];
}

/** Longest wait for all requests to become final, in milliseconds. */
const SETTLE_TIMEOUT = 180_000;

/** Asks the restored service for each request. */
export async function partition({ world, app }: Drilled, accepted: readonly Mint[]): Promise<Known> {
  const known: Known = { inBackup: [], after: [] };
  for (const mint of accepted) {
    const { status } = await world.call(app, "GET", `/v1/requests/${mint.id}`);
    known[status === 200 ? "inBackup" : "after"].push(mint);
  }
  return known;
}

/** Waits until the requests of the backup are final, then compares the caller's records, the database and the chain. */
export async function checkPromises(drilled: Drilled, known: Known): Promise<Check[]> {
  const { world } = drilled;
  const statuses = await settled(drilled, known.inBackup);
  const all = [...known.inBackup, ...known.after];
  const collectionAt = (address: string) => ERC721Collection__factory.connect(address, world.node.provider);
  const [capped, open] = [collectionAt(drilled.capped), collectionAt(drilled.open)];
  const owned = new Map<string, number>();
  for (const { to } of all) owned.set(to, Number((await capped.balanceOf(to)) + (await open.balanceOf(to))));
  const minted = [Number(await capped.totalMinted()), Number(await open.totalMinted())];
  const owners = await withDatabase(world.databaseUrl, ({ read }) =>
    read.selectFrom("holdings").select("owner").where("contract", "in", [drilled.capped, drilled.open]).execute(),
  );
  const facts = { ...known, statuses, owned, minted, listed: new Set(owners.map(({ owner }) => owner)) };
  return [
    onceEach(facts),
    unknownButListed(facts),
    await capHolds(drilled, () => capped.totalMinted()),
    await keysAnswer(drilled, known.inBackup),
    await webhooksArrived(drilled, known.inBackup),
    await doctorIsContent(world),
  ];
}

async function settled({ world, app }: Drilled, mints: readonly Pick<Mint, "id">[]): Promise<Facts["statuses"]> {
  const statuses: Facts["statuses"] = new Map();
  for (const { id } of mints) {
    const { status, error_code: error } = await world.settled(app, id, SETTLE_TIMEOUT);
    statuses.set(id, { status: String(status), error: typeof error === "string" ? error : null });
  }
  return statuses;
}

/** The chain has each token once: a completed request made one, a failed one none, unless it ran under a lost number. */
function onceEach({ inBackup, after, statuses, owned, minted }: Facts): Check {
  const wrong: string[] = [];
  for (const { id, to } of inBackup) {
    const { status, error } = statuses.get(id) ?? { status: "unknown", error: null };
    const tokens = owned.get(to) ?? 0;
    const expected = status === "completed" || error === "number_taken" ? 1 : 0;
    if (!["completed", "failed"].includes(status) || tokens !== expected)
      wrong.push(`${id} is ${status} (${String(error)}) and has ${tokens.toString()} tokens`);
  }
  wrong.push(...after.filter(({ to }) => (owned.get(to) ?? 0) > 1).map(({ id }) => `${id} ran twice`));
  const tokens = [...owned.values()].reduce((sum, count) => sum + count, 0);
  const all = minted.reduce((sum, count) => sum + count, 0);
  const ran = inBackup.filter(({ id }) => statuses.get(id)?.error === "number_taken").length;
  return {
    promise: "No request runs twice, and every request of the backup becomes final",
    // A call whose answer the caller did not get may have minted for an address that it did not note.
    holds: wrong.length === 0 && all >= tokens,
    detail:
      wrong.length > 0
        ? wrong.slice(0, 5).join("; ")
        : `${inBackup.length.toString()} requests, ${ran.toString()} of them recognised as carried out after the backup; ` +
          `${all.toString()} tokens on chain`,
  };
}

/** The API does not know the requests that came after the backup. Their tokens are in the lists. */
function unknownButListed({ after, owned, listed }: Facts): Check {
  const onChain = after.filter(({ to }) => owned.get(to) === 1);
  const missing = onChain.filter(({ to }) => !listed.has(to));
  return {
    promise: "Tokens of requests after the backup are on chain and in the database",
    holds: onChain.length > 0 && missing.length === 0,
    detail:
      `${after.length.toString()} requests are unknown; ${onChain.length.toString()} of them ran, ` +
      `${(onChain.length - missing.length).toString()} of their tokens are listed`,
  };
}

/** The capped collection is filled up. */
async function capHolds(drilled: Drilled, totalMinted: () => Promise<bigint>): Promise<Check> {
  const { world, app, capped, cap } = drilled;
  const accepted: { id: string }[] = [];
  for (let call = 0; call <= cap; call++) {
    const body = { collection_address: capped, to_address: getAddress(hexlify(randomBytes(20))) };
    const { status, text } = await world.call(app, "POST", "/v1/nfts", body);
    if (status !== 200) break;
    accepted.push({ id: (JSON.parse(text) as { request_id: string }).request_id });
  }
  const failed = [...(await settled(drilled, accepted)).values()].filter(({ status }) => status !== "completed");
  const minted = Number(await totalMinted());
  return {
    promise: "Supply caps hold",
    holds: minted === cap && failed.length === 0,
    detail: `${accepted.length.toString()} more accepted, then refused; ${minted.toString()} of ${cap.toString()} on chain`,
  };
}

/** A repeated call gets the request of the first one. */
async function keysAnswer({ world, app }: Drilled, mints: readonly Mint[]): Promise<Check> {
  let same = 0;
  for (const { id, key, body } of mints) {
    const { text } = await world.call(app, "POST", "/v1/nfts", body, { headers: { "idempotency-key": key } });
    if ((JSON.parse(text) as { request_id?: string }).request_id === id) same += 1;
  }
  return {
    promise: "Idempotency keys of the backup answer as before",
    holds: same === mints.length,
    detail: `${same.toString()} of ${mints.length.toString()} repeated calls got their first request`,
  };
}

/** The restored service delivers the events that waited in the backup, and those that came with the new results. */
async function webhooksArrived({ receiver }: Drilled, mints: readonly Mint[]): Promise<Check> {
  const finals = new Map<string, Set<string>>();
  const wanted = new Set(mints.map(({ id }) => id));
  const look = () => {
    for (const { body, headers } of receiver.calls) {
      const id = String(body["request_id"]);
      if (!wanted.has(id) || !["completed", "error"].includes(String(body["type"]))) continue;
      finals.set(id, (finals.get(id) ?? new Set()).add(String(headers["webhook-id"])));
    }
    return finals.size === wanted.size;
  };
  const deadline = performance.now() + SETTLE_TIMEOUT;
  while (!look() && performance.now() < deadline) await wait(100);
  const several = [...finals.values()].filter((ids) => ids.size > 1).length;
  return {
    promise: "Webhooks of the backup's requests arrive, each final event under one id",
    holds: finals.size === wanted.size && several === 0,
    detail: `${finals.size.toString()} of ${wanted.size.toString()} final events, ${several.toString()} under several ids`,
  };
}

async function doctorIsContent(world: Installation): Promise<Check> {
  const { findings } = JSON.parse(await world.cli("doctor", "--media", "--json")) as {
    findings: { result: string; words: string }[];
  };
  const problems = findings.filter(({ result }) => result === "problem");
  return {
    promise: "doctor --media finds no problem",
    holds: problems.length === 0,
    detail:
      problems.length === 0 ? `${findings.length.toString()} findings` : problems.map(({ words }) => words).join("; "),
  };
}
