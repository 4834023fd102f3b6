import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { SqliteRecords } from "../campaign/records.ts";
import type { Finished } from "./finished.ts";
import { leaveDeliveries, leaveMediaWork } from "./leftovers.ts";
import type { App, Body, Scene } from "./scene.ts";

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
const SENDING = ["eth_sendRawTransaction"];

/** Leaves requests under way in every state, and kills the process that works on them. */
export async function leaveUnderWay(scene: Scene, made: Finished): Promise<Unfinished[]> {
  const left: Unfinished[] = [];
  const accept = async (state: string, calls: Call[]) => {
    await scene.start("api");
    for (const { app, path, body, method } of calls) {
      left.push({ state, app: app.name, id: await scene.accept(app, path, body, method) });
    }
    await scene.killAll();
  };
  const picture = (name: string) => withMedia(made, name, scene.outside.origin);
  await interruptReconcile(scene);
  await accept("mined, not confirmed", oneOfEach(made, 2));
  await mineThem(scene);
  await accept("sent, not mined", oneOfEach(made, 3));
  await sendInVain(scene);
  await accept("signed, not sent", oneOfEach(made, 4));
  await signOnly(scene);
  await accept("claimed", oneOfEach(made, 5));
  await claimOnly(scene);
  await accept("its media cannot be fetched", [picture("broken")]);
  await tryMedia(scene);
  await accept("its media were fetched by a process that died", [picture("lost")]);
  await dieWithMedia(scene);
  await accept("accepted", [...oneOfEach(made, 6), picture("late"), ...alone(made)]);
  await leaveDeliveries(scene, made);
  await leaveMediaWork(scene);
  return left;
}

interface Call {
  app: App;
  path: string;
  body?: Body;
  method?: string;
}

/** A request of every type, on tokens that no other call uses. @param token of the first wallet. */
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
async function interruptReconcile(scene: Scene): Promise<void> {
  scene.proxy.fault = { kind: "delay", probability: 1, methods: ["eth_getLogs"], amount: 200 };
  const child = spawn(process.execPath, ["api/cli/main.ts", "reconcile"], {
    env: { PATH: process.env["PATH"], ...scene.env },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const ended = once(child, "exit");
  const file = join(scene.folder, "reconcile", "chain.sqlite");
  await scene.until("reconcile has read some ranges", async () => existsSync(file) && (await lastBlockIn(file)) > READ);
  child.kill("SIGKILL");
  const [, signal] = (await ended) as [number | null, string | null];
  if (signal !== "SIGKILL") throw new Error("reconcile ended before it was killed");
  scene.proxy.fault = null;
}

/** The last block that a run of `reconcile` has stored. It creates its tables when it begins. */
async function lastBlockIn(file: string): Promise<number> {
  const records = new SqliteRecords(file);
  try {
    const tables = await records.all("select name from sqlite_schema where name = 'meta'");
    if (tables.length === 0) return 0;
    const [row] = await records.all<{ value: string }>("select value from meta where key = 'checkpoint'");
    return Number(row?.value ?? 0);
  } finally {
    await records.close();
  }
}

/** Executes the waiting requests in blocks that are not deep enough yet. */
async function mineThem(scene: Scene): Promise<void> {
  await scene.start("relayer,indexer", UNCONFIRMED);
  await scene.until("every sent request is in a block", () => isEmpty(scene, "outcome is null"));
  await scene.killAll();
}

/** Sends to a node that loses every transaction. Lane 0 takes them all. */
async function sendInVain(scene: Scene): Promise<void> {
  scene.proxy.fault = { kind: "lose-broadcast", probability: 1, methods: SENDING };
  await scene.start("relayer", { LANES: "1" });
  const sent = "batch_id in (select batch_id from attempts where sent_at is not null)";
  await scene.until("every request is sent", () => isEmpty(scene, `status = 'pending' or not (${sent})`));
  await scene.killAll();
}

/** The node does not answer, so lane 0 waits and lane 1 takes the requests. */
async function signOnly(scene: Scene): Promise<void> {
  scene.proxy.fault = { kind: "delay", probability: 1, methods: SENDING, amount: TOO_LATE };
  await scene.start("relayer", { LANES: "2" });
  await scene.until("every request is signed", () => isEmpty(scene, "status = 'pending'"));
  await scene.killAll();
}

/** Lanes 0 and 1 wait for the node, so lane 2 takes the requests. */
async function claimOnly(scene: Scene): Promise<void> {
  await (await scene.start("relayer", { CRASH_POINT: "relayer:claimed" })).gone();
  if (await isEmpty(scene, "lane is not null and batch_id is null")) throw new Error("no request is claimed");
  scene.proxy.fault = null;
}

async function tryMedia(scene: Scene): Promise<void> {
  scene.outside.broken.add("/media/broken.svg");
  await scene.start("media");
  await scene.until("media were tried", async () => (await scene.count("media_jobs where tries > 0")) > 0);
  await scene.killAll();
}

async function dieWithMedia(scene: Scene): Promise<void> {
  await (await scene.start("media", { CRASH_POINT: "media:copied" })).gone();
  if ((await scene.count("media_jobs where holder is not null")) === 0) throw new Error("no media job is taken");
}

/** Whether no unfinished request that is not waiting for media meets the condition. */
async function isEmpty(scene: Scene, condition: string): Promise<boolean> {
  const waiting = "id in (select request_id from media_jobs)";
  const found = `requests where status in ('pending', 'processing') and not (${waiting}) and (${condition})`;
  return (await scene.count(found)) === 0;
}
