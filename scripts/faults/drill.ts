import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";

import { Wallet } from "ethers";

import { plural } from "../../api/shared/text.ts";
import { ERC721Collection__factory } from "../../contracts/generated/factories/ERC721Collection__factory.ts";
import { withDatabase } from "../scene/scene.ts";
import { until } from "../scene/until.ts";
import type { Engine } from "./options.ts";
import { World } from "./world.ts";

/** Requests that are accepted before the backup, and after it, before the disk is lost. */
const [BEFORE, AFTER] = [40, 40];
const CAP = 100;
const STEP = { within: 180_000 };

/** A mint that the service accepted. Each goes to an address of its own, so the chain shows how often it ran. */
interface Mint {
  id: string;
  key: string;
  body: { to_address: string };
}

/**
 * Rehearses the loss of a disk: backs up a service under load, lets the load go on, kills the service, deletes its data,
 * restores, reconciles, starts, and compares. Everything is scratch: a node, a chain, and keys of its own.
 * @throws when a promise does not hold.
 */
export async function drill(engine: Engine, say: (line: string) => void): Promise<void> {
  // Nobody delivers webhooks yet: those of the backup wait for the restored service.
  const world = await World.alone({ engine, atFirst: { ROLES: "api,relayer,indexer,media" } });
  try {
    await new Drill(world, await world.collection(world.app, { mint_supply_count: CAP }), say).run();
  } finally {
    await world.stop(false);
  }
}

/** Final status by request. */
type Statuses = Map<string, { status: string; error: string | null }>;

class Drill {
  readonly #world: World;
  /** A collection with a supply cap. The other one is that of the world. */
  readonly #capped: string;
  readonly #say: (line: string) => void;
  readonly #began = performance.now();

  constructor(world: World, capped: string, say: (line: string) => void) {
    this.#world = world;
    this.#capped = capped;
    this.#say = say;
  }

  async run(): Promise<void> {
    const { service, folder } = this.#world;
    this.#step("A service runs; its keys are not on the disk that will be lost.");
    const { accepted } = await this.#loseUnderLoad(`${folder}/backup`);
    this.#step((await service.cli("restore", `${folder}/backup`)).split("\n")[0] ?? "");
    await this.#refusesToStart();
    const reconciled = JSON.parse(await service.cli("reconcile", "--json")) as Reconciled;
    this.#step(describe(reconciled));
    const { differences } = reconciled.comparison;
    this.#holds("What reconcile adopts leaves every total exact", differences === 0, plural(differences, "difference"));
    await service.start();
    const known = await Promise.all(accepted.map(async (mint) => ({ mint, isKnown: await this.#knows(mint) })));
    const inBackup = known.flatMap(({ mint, isKnown }) => (isKnown ? mint : []));
    const after = known.flatMap(({ mint, isKnown }) => (isKnown ? [] : mint));
    this.#step(`The service runs again. It knows ${plural(inBackup.length, "request")}; ${after.length} came later.`);
    await this.#ranOnce(inBackup, after);
    await this.#capHolds();
    await this.#keysAnswer(inBackup);
    await this.#webhooksArrive(inBackup);
    const { findings } = JSON.parse(await service.cli("doctor", "--media", "--json")) as {
      findings: { result: string; words: string }[];
    };
    const problems = findings.filter(({ result }) => result === "problem").map(({ words }) => words);
    this.#holds("doctor --media finds no problem", problems.length === 0, problems.join("; "));
  }

  /** Backs up while requests come in, and kills the service in the middle of the load. @returns what it had accepted. */
  async #loseUnderLoad(backup: string): Promise<Load> {
    const { service, client, node } = this.#world;
    const load = new Load(this.#world, this.#capped);
    await until("requests before the backup", () => load.accepted.length >= BEFORE, STEP);
    await service.cli("backup", backup);
    const inTime = load.accepted.length;
    this.#step(`backup: made and checked while requests came in, ${plural(inTime, "request")} before its end.`);
    await until("requests after the backup", () => load.accepted.length >= inTime + AFTER, STEP);
    const late = async () => client.ok("GET", `/v1/requests/${load.accepted.at(-20)?.id ?? ""}`);
    await until("results after the backup", async () => (await late())["status"] === "completed", STEP);
    const stopped = load.stop();
    await service.kill();
    await stopped;
    await service.loseDisk();
    this.#step(`kill -9, and the disk is lost, after ${plural(load.accepted.length, "accepted request")}.`);
    // What was sent is mined, as the pages about back-ups ask for.
    await node.mine();
    return load;
  }

  /** The service does not start with an old copy. */
  async #refusesToStart(): Promise<void> {
    const message = await this.#world.service.start().then(
      () => "it started",
      (error: unknown) => (error as Error).message,
    );
    const why = /it is an old backup, or another service uses the same seed/.exec(message)?.[0];
    if (why === undefined) throw new Error(`The service should have refused to start: ${message}`);
    this.#step(`start: refused, because the chain has transactions that the copy does not know ("${why}").`);
  }

  async #knows({ id }: Mint): Promise<boolean> {
    return (await this.#world.call(this.#world.app, "GET", `/v1/requests/${id}`)).status === 200;
  }

  /** The chain has each token once: a completed request made one, a failed one none, unless it ran under a lost number. */
  async #ranOnce(inBackup: readonly Mint[], after: readonly Mint[]): Promise<void> {
    const { node, service, erc721 } = this.#world;
    const statuses = await this.#settled(inBackup);
    const collections = [this.#capped, erc721].map((one) => ERC721Collection__factory.connect(one, node.provider));
    const owned = new Map<string, number>();
    for (const { body } of [...inBackup, ...after]) {
      const counts = await Promise.all(collections.map((one) => one.balanceOf(body.to_address)));
      owned.set(body.to_address, Number(counts.reduce((sum, count) => sum + count, 0n)));
    }
    const tokensOf = ({ body }: Mint) => owned.get(body.to_address) ?? 0;
    const wrong = inBackup.flatMap((mint) => {
      const { status, error } = statuses.get(mint.id) ?? { status: "unknown", error: null };
      const isRight = tokensOf(mint) === (status === "completed" || error === "number_taken" ? 1 : 0);
      return isRight ? [] : `${mint.id} is ${status} (${String(error)}) and has ${tokensOf(mint).toString()} tokens`;
    });
    wrong.push(...after.filter((mint) => tokensOf(mint) > 1).map(({ id }) => `${id} ran twice`));
    this.#holds(
      "No request runs twice, and every request of the backup becomes final",
      wrong.length === 0,
      wrong.join("; "),
    );
    const holdings = await withDatabase(service.databaseUrl, ({ read }) =>
      read.selectFrom("holdings").select("owner").where("contract", "in", [this.#capped, erc721]).execute(),
    );
    const listed = new Set(holdings.map(({ owner }) => owner));
    const onChain = after.filter((mint) => tokensOf(mint) === 1);
    const missing = onChain.filter(({ body }) => !listed.has(body.to_address));
    this.#holds(
      "Tokens of requests after the backup are on chain and in the database",
      onChain.length > 0 && missing.length === 0,
      `${onChain.length.toString()} of ${plural(after.length, "unknown request")} ran; ${missing.length.toString()} of their tokens are missing`,
    );
  }

  /** The capped collection is filled up. */
  async #capHolds(): Promise<void> {
    const { app, node } = this.#world;
    const accepted: { id: string }[] = [];
    for (let call = 0; call <= CAP; call++) {
      const body = { collection_address: this.#capped, to_address: Wallet.createRandom().address };
      const { status, text } = await this.#world.call(app, "POST", "/v1/nfts", body);
      if (status !== 200) break;
      accepted.push({ id: idOf(text) });
    }
    const failed = [...(await this.#settled(accepted)).values()].filter(({ status }) => status !== "completed");
    const minted = Number(await ERC721Collection__factory.connect(this.#capped, node.provider).totalMinted());
    const detail = `${accepted.length.toString()} more accepted, then refused; ${minted.toString()} of ${CAP.toString()} on chain`;
    this.#holds("Supply caps hold", minted === CAP && failed.length === 0, detail);
  }

  /** A repeated call gets the request of the first one. */
  async #keysAnswer(mints: readonly Mint[]): Promise<void> {
    let same = 0;
    for (const { id, key, body } of mints) {
      const more = { headers: { "idempotency-key": key } };
      const { text } = await this.#world.call(this.#world.app, "POST", "/v1/nfts", body, more);
      if (idOf(text) === id) same += 1;
    }
    const detail = `${same.toString()} of ${plural(mints.length, "repeated call")} got their first request`;
    this.#holds("Idempotency keys of the backup answer as before", same === mints.length, detail);
  }

  /** The restored service delivers the events that waited in the backup, and those that came with the new results. */
  async #webhooksArrive(mints: readonly Mint[]): Promise<void> {
    const { finals } = this.#world.webhooks;
    await until("all final webhooks", () => mints.every(({ id }) => finals.has(id)), STEP);
    const several = mints.filter(({ id }) => finals.get(id)?.size !== 1);
    const detail = `${several.length.toString()} of ${plural(mints.length, "final event")} under several ids`;
    this.#holds(
      "Webhooks of the backup's requests arrive, each final event under one id",
      several.length === 0,
      detail,
    );
  }

  async #settled(mints: readonly Pick<Mint, "id">[]): Promise<Statuses> {
    const statuses: Statuses = new Map();
    for (const { id } of mints) {
      const { status, error_code: error } = await this.#world.final(this.#world.app, id);
      statuses.set(id, { status: String(status), error: typeof error === "string" ? error : null });
    }
    return statuses;
  }

  #step(text: string): void {
    this.#say(`${((performance.now() - this.#began) / 1_000).toFixed(1).padStart(6)} s  ${text}`);
  }

  #holds(promise: string, holds: boolean, detail: string): void {
    if (!holds) throw new Error(`BROKEN: ${promise}: ${detail}`);
    this.#step(`holds: ${promise}${detail === "" ? "" : `: ${detail}`}.`);
  }
}

interface Reconciled {
  recovery: { transactions: number; recognised: number; added: number; uncertain: string[] } | null;
  comparison: { differences: number; told: { what: string; stored: string; chain: string }[] };
}

function describe({ recovery, comparison }: Reconciled): string {
  if (recovery === null) return "reconcile: nothing was sent after the backup.";
  const { transactions, recognised, added, uncertain } = recovery;
  const told = comparison.told.map(({ what, stored, chain }) => `; ${what}: stored ${stored}, on chain ${chain}`);
  return (
    `reconcile: ${plural(transactions, "unknown transaction")} on chain, with ${plural(recognised, "request")} of the backup and ` +
    `${added.toString()} unknown ones; ${plural(uncertain.length, "waiting request")} of the backup ran already${told.join("")}.`
  );
}

function idOf(text: string): string {
  return String((JSON.parse(text) as { request_id?: string }).request_id);
}

/** Calls that are made at the same time, and the pause between two, in milliseconds. */
const [WIDTH, PACE] = [4, 50];

/** An app that mints until it is stopped. */
class Load {
  /** In the order of their answers. */
  readonly accepted: Mint[] = [];
  readonly #world: World;
  readonly #capped: string;
  readonly #running: Promise<unknown>;
  #stopped = false;
  #made = 0;

  constructor(world: World, capped: string) {
    this.#world = world;
    this.#capped = capped;
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
    const number = this.#made++;
    const image = `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" id="p${number.toString()}"/>`;
    const body = {
      collection_address: number % 2 === 0 ? this.#capped : this.#world.erc721,
      to_address: Wallet.createRandom().address,
      name: `Drill ${number.toString()}`,
      ...(number % 3 === 0 ? { image, copy_media: true } : {}),
    };
    const key = randomUUID();
    const more = { headers: { "idempotency-key": key } };
    // A full collection refuses it. Whether a call was stored that got no answer is unknown, as for any caller.
    const { status, text } = await this.#world.call(this.#world.app, "POST", "/v1/nfts", body, more);
    if (status === 200) this.accepted.push({ id: idOf(text), key, body });
  }
}
