import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { parkRows } from "../../api/store/db/parked-rows.ts";
import { BlockIndex } from "../../api/store/media/blocks.ts";
import { Program } from "../scene/program.ts";
import { openRecords, withRecords } from "../scene/records.ts";
import type { Finished } from "./finished.ts";
import { type App, type Body, SETTINGS, type World } from "./world.ts";

/** A request that the fixture leaves under way. Each can complete. */
export interface Unfinished {
  /** What it waits for. */
  state: string;
  app: string;
  id: string;
}

/** Milliseconds of an answer that comes too late: the caller is killed before. */
const TOO_LATE = 60_000;
/** So deep that no block of the fixture is final. */
const UNCONFIRMED = { CONFIRMATIONS: "5000" };
/** Blocks that `reconcile` reads before it is killed. */
const READ = 50;
/** From the token that is moved to the one that is burnt. */
const BURNT = 5;
const SENDING = ["eth_sendRawTransaction"];

/** Leaves requests under way in every state, and kills the process that works on them. */
export async function leaveUnderWay(world: World, made: Finished): Promise<Unfinished[]> {
  const left: Unfinished[] = [];
  const accept = async (state: string, calls: Call[]) => {
    await world.start("api");
    for (const { app, path, body, method } of calls) {
      left.push({ state, app: app.name, id: await world.accept(app, path, body, method) });
    }
    await world.killAll();
  };
  const picture = (name: string) => withMedia(made, name, world.outside.origin);
  await interruptReconcile(world);
  await accept("mined, not confirmed", oneOfEach(made, 2));
  await mineThem(world);
  await accept("sent, not mined", oneOfEach(made, 3));
  await sendInVain(world);
  await accept("signed, not sent", oneOfEach(made, 4));
  await signOnly(world);
  await accept("claimed", oneOfEach(made, 5));
  await claimOnly(world);
  await accept("its media cannot be fetched", [picture("broken")]);
  await tryMedia(world);
  await accept("its media were fetched by a process that died", [picture("lost")]);
  await dieWithMedia(world);
  await accept("accepted", [...oneOfEach(made, 6), picture("late"), ...alone(made)]);
  await parkOne(world, left);
  await leaveDeliveries(world, made);
  await leaveMediaWork(world);
  return left;
}

/** As if the relayer had failed on the newest request. It is tried again after a minute. */
async function parkOne({ database }: World, left: readonly Unfinished[]): Promise<void> {
  const { id = "" } = left.at(-1) ?? {};
  await database.write((trx) =>
    parkRows(trx, "request", [{ id, error: new Error("as if it had failed") }], Date.now()),
  );
}

interface Call {
  app: App;
  path: string;
  body?: Body;
  method?: string;
}

/** A request of every type, on tokens that no other call uses. @param token of the first wallet, 2 to 6; another 5 above is burnt. */
function oneOfEach({ shop, wallets, erc721, erc1155, selfHosted, foreign }: Finished, token: number): Call[] {
  const [from, to] = wallets;
  const mint = (body: Body): Call => ({ app: shop, path: "/v1/nfts", body });
  const transfer = (body: Body): Call => ({
    app: shop,
    path: "/v1/transfers",
    body: { from_address: from, to_address: to, ...body },
  });
  const id = 100 + token;
  return [
    { app: shop, path: "/v1/collections", body: { type: "ERC721", name: `Later ${token.toString()}`, symbol: "LTR" } },
    mint({
      collection_address: erc721,
      to_address: to,
      name: "Under way",
      unlockable_content: `secret ${token.toString()}`,
    }),
    mint({ collection_address: erc1155, initial_owner: to, token_id: id, initial_supply: 2 }),
    mint({ collection_address: erc1155, to_address: to, token_id: 7, quantity: 1 }),
    mint({ collection_address: selfHosted, to_address: to, token_id: 1, quantity: 1 }),
    transfer({ contract_address: erc721, token_id: token }),
    transfer({ contract_address: erc1155, token_id: 7, amount: 1 }),
    {
      app: shop,
      path: "/v1/burns",
      body: { contract_address: erc721, from_address: from, token_id: token + BURNT },
    },
    transfer({ contract_address: foreign, token_id: token }),
    {
      app: shop,
      path: `/v1/collections/${erc721}/${token.toString()}`,
      body: { description: "changed" },
      method: "PATCH",
    },
  ];
}

function withMedia({ shop, erc721, wallets }: Finished, image: string, origin: string): Call {
  const body = {
    collection_address: erc721,
    to_address: wallets[0],
    image: `${origin}/media/${image}.svg`,
    copy_media: true,
  };
  return { app: shop, path: "/v1/nfts", body };
}

/** Calls that are made once. The collection is frozen when its token is minted. */
function alone({ press, closing, ofPress, ofClosing, wallets }: Finished): Call[] {
  return [
    { app: press, path: "/v1/nfts", body: { collection_address: ofPress, to_address: wallets[1] } },
    { app: closing, path: "/v1/nfts", body: { collection_address: ofClosing, to_address: wallets[1] } },
    { app: press, path: `/v1/collections/${ofPress}/freeze`, body: {} },
  ];
}

/** Kills `reconcile` while it reads the chain. What it has read stays in a database of its own. */
async function interruptReconcile(world: World): Promise<void> {
  world.proxy.fault = { kind: "delay", probability: 1, methods: ["eth_getLogs"], amount: 200 };
  const env = { PATH: process.env["PATH"], ...world.env };
  const reconcile = new Program(["api/cli/main.ts", "reconcile"], { env });
  const file = join(world.folder, "reconcile", "chain.sqlite");
  await world.until("reconcile has read some ranges", async () => existsSync(file) && (await lastBlockIn(file)) > READ);
  if ((await reconcile.end("SIGKILL")) !== "SIGKILL")
    throw new Error(`reconcile ended before it was killed:\n${reconcile.output}`);
  world.proxy.fault = null;
}

/** The last block that a run of `reconcile` has stored. It creates its tables when it begins. */
function lastBlockIn(file: string): Promise<number> {
  return withRecords(openRecords(`file:${file}`), async (records) => {
    const tables = await records.all("select name from sqlite_schema where name = 'meta'");
    if (tables.length === 0) return 0;
    const [row] = await records.all<{ value: string }>("select value from meta where key = 'checkpoint'");
    return Number(row?.value ?? 0);
  });
}

/** Executes the waiting requests in blocks that are not deep enough yet. */
async function mineThem(world: World): Promise<void> {
  await world.start("relayer,indexer", UNCONFIRMED);
  await world.until("every sent request is in a block", () => isEmpty(world, "outcome is null"));
  await world.killAll();
}

/** Sends to a node that loses every transaction. Lane 0 takes them all. */
async function sendInVain(world: World): Promise<void> {
  world.proxy.fault = { kind: "lose-broadcast", probability: 1, methods: SENDING };
  await world.start("relayer", { LANES: "1" });
  const sent = "batch_id in (select batch_id from attempts where sent_at is not null)";
  await world.until("every request is sent", () => isEmpty(world, `status = 'pending' or not (${sent})`));
  await world.killAll();
}

/** The node does not answer, so lane 0 waits and lane 1 takes the requests. */
async function signOnly(world: World): Promise<void> {
  world.proxy.fault = { kind: "delay", probability: 1, methods: SENDING, amount: TOO_LATE };
  await world.start("relayer", { LANES: "2" });
  await world.until("every request is signed", () => isEmpty(world, "status = 'pending'"));
  await world.killAll();
}

/** Lanes 0 and 1 wait for the node, so lane 2 takes the requests. */
async function claimOnly(world: World): Promise<void> {
  await (await world.start("relayer", { CRASH_POINT: "relayer:claimed" })).gone();
  if (await isEmpty(world, "lane is not null and batch_id is null")) throw new Error("no request is claimed");
  world.proxy.fault = null;
}

async function tryMedia(world: World): Promise<void> {
  world.outside.broken.add("/media/broken.svg");
  await world.start("media");
  await world.until("media were tried", async () => (await world.count("media_jobs where tries > 0")) > 0);
  await world.killAll();
}

async function dieWithMedia(world: World): Promise<void> {
  await (await world.start("media", { CRASH_POINT: "media:copied" })).gone();
  if ((await world.count("media_jobs where holder is not null")) === 0) throw new Error("no media job is taken");
}

/** Whether no unfinished request that is not waiting for media meets the condition. */
async function isEmpty(world: World, condition: string): Promise<boolean> {
  const waiting = "id in (select request_id from media_jobs)";
  const found = `requests where status in ('pending', 'processing') and not (${waiting}) and (${condition})`;
  return (await world.count(found)) === 0;
}

/** Leaves deliveries to be sent, sent again and ended, and calls that two API processes have counted together. */
async function leaveDeliveries(world: World, { shop, closing }: Finished): Promise<void> {
  await world.start("api");
  await world.start("api");
  await world.call(shop, "POST", "/v1/webhook/test");
  // Two processes add up their counts once a considerable part of the limit is used.
  await world.until("the calls are added up", async () => {
    await world.call(shop, "GET", "/v1/webhook");
    return (await world.count("rate_counts")) > 0;
  });
  await world.call(closing, "DELETE", "/v1/webhook");
  await world.killAll();
  await (await world.start("webhooks", { CRASH_POINT: "webhooks:taken" })).gone();
  // As after the removal of a webhook with exactly 1,000 waiting deliveries: the first 1,000 are ended, the rest is to come.
  await world.database.write(async (trx) => {
    const { seq } = await trx
      .selectFrom("deliveries")
      .select("seq")
      .where("app_id", "=", closing.id)
      .orderBy("seq", "desc")
      .limit(1)
      .executeTakeFirstOrThrow();
    const row = { webhook_id: closing.id, app_id: closing.id, up_to_seq: seq, reason: "the webhook was removed" };
    await trx.insertInto("abandoned_deliveries").values(row).execute();
  });
}

/** An upload that was never recorded, and a garbage collection that has removed nothing yet. */
async function leaveMediaWork({ database }: World): Promise<void> {
  const index = new BlockIndex(database, SETTINGS.MEDIA_STORE, () => Date.now());
  const id = randomUUID();
  await index.announce("upload-of-a-dead-process");
  for await (const { cid } of index.all()) {
    await index.quarantine({ id, first: true }, [cid], Date.now() + 1);
    return;
  }
  throw new Error("no block is stored");
}
