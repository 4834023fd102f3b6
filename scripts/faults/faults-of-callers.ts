import { setTimeout as wait } from "node:timers/promises";

import { issueToken } from "../../api/commands/api-tokens.ts";
import { revokeApiToken } from "../../api/store/apps/api-tokens.ts";
import { callFrom, OpenCallers } from "../scene/callers.ts";
import { withDatabase } from "../scene/scene.ts";
import { until } from "../scene/until.ts";
import type { Fault } from "./faults.ts";
import { attackByContract, floodWithMoves } from "./hostile-contract.ts";
import type { World } from "./world.ts";

/** Longest wait for what must happen soon. */
const SOON = { within: 90_000 };
const MIB = 2 ** 20;
/** Loopback addresses of callers that attack: the load has 127.0.0.1. */
const ATTACKER = "127.0.0.2";
const STRANGER = "127.0.0.3";
/** Metadata near the limit, and batches of it that together fill a transaction. */
const LARGEST = 65_000;
const LARGE_BATCHES = [84, 83, 83];
/** Connections to each API process that read, and that send, no further. */
const READERS = 100;
const SENDERS = 150;
/** Calls at the same time with a token that is revoked, and with unknown tokens. */
const REVOKED = 12;
const UNKNOWN = 24;
const MOST_UNKNOWN = 20_000;

/** What callers do: apps, and strangers without a token. */
export const CALLER_FAULTS: Fault[] = [
  { name: "an app mints the largest metadata", inject: mintLargest },
  { name: "callers do not read or send on", inject: holdConnections },
  { name: "a token is revoked while its calls wait", inject: revokeWhileCallsWait },
  { name: "strangers try unknown tokens", inject: tryUnknownTokens },
  { name: "hostile contract", inject: attackByContract },
  { name: "a flood of moves", inject: floodWithMoves },
];

/** As many mints as fit into a transaction, each with the largest metadata. @returns how many were accepted. */
async function mintLargest(world: World, load: Promise<unknown>): Promise<number> {
  const counts = await Promise.all(LARGE_BATCHES.map((count) => acceptLargest(world, count)));
  await load;
  return counts.reduce((sum, count) => sum + count, 0);
}

async function acceptLargest({ attacker }: World, count: number): Promise<number> {
  const { collection, wallet, client } = attacker;
  const item = { collection_address: collection, to_address: wallet, attributes: ["x".repeat(LARGEST)] };
  const ids = (await client.acceptBatch("/v1/nfts/batch", Array<typeof item>(count).fill(item))).filter(
    (id) => id !== null,
  );
  attacker.accepted.push(...ids.map((id) => ({ id, kind: "mint-erc721" as const })));
  return ids.length;
}

/** @returns how many connections were held. */
async function holdConnections(world: World, load: Promise<unknown>): Promise<number> {
  const { attacker, service } = world;
  await acceptLargest(world, 30);
  const authorization = `Bearer ${attacker.token}`;
  const read = OpenCallers.head("GET", `/v1/collections/${attacker.collection}?limit=30`, {
    Authorization: authorization,
  });
  const send = OpenCallers.head("POST", "/v1/accounts", {
    ...{ Authorization: authorization, "Content-Type": "application/json" },
    "Content-Length": MIB.toString(),
  });
  const part = Buffer.alloc(MIB / 2, " ");
  const all = service.apiUrls.map((url) => new OpenCallers(url));
  try {
    for (const callers of all) {
      await Promise.all(Array.from({ length: READERS }, () => callers.begin([read], ATTACKER)));
      await Promise.all(Array.from({ length: SENDERS }, () => callers.begin([send, part], ATTACKER)));
    }
    await load;
    return all.reduce((sum, { open, closed }) => sum + open + closed, 0);
  } finally {
    for (const callers of all) callers.destroy();
  }
}

/** Another token of the attacker. */
export function tokenOf({ attacker, service }: World): Promise<{ id: string; token: string }> {
  const order = { appId: attacker.appId, name: "more", scopes: null, expiresAt: null };
  return withDatabase(service.databaseUrl, (database) => issueToken({ database }, order));
}

/** @returns how many calls were refused. @throws when a call is accepted that was made, or completed, after the revocation. */
async function revokeWhileCallsWait(world: World, load: Promise<unknown>): Promise<number> {
  const { attacker, service, random } = world;
  const [url = ""] = service.apiUrls;
  const { id, token } = await tokenOf(world);
  const body = JSON.stringify({ collection_address: attacker.collection, to_address: attacker.wallet });
  const late = new OpenCallers(url);
  let revoked = false;
  let refused = 0;
  const minter = async () => {
    for (;;) {
      const known = revoked;
      const answer = await callFrom(url, { method: "POST", path: "/v1/nfts", token, body, from: ATTACKER });
      if (answer.status === 200) {
        if (known) throw new Error(`a mint was accepted after its token was revoked: ${answer.text}`);
        const { request_id: request } = JSON.parse(answer.text) as { request_id: string };
        attacker.accepted.push({ id: request, kind: "mint-erc721" });
      } else if (answer.status === 401) {
        refused += 1;
        if (known) return;
      } else throw new Error(`a mint was answered with ${String(answer.status)}: ${answer.text}`);
    }
  };
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const head = OpenCallers.head("POST", "/v1/nfts", { ...headers, "Content-Length": body.length.toString() });
  try {
    const waiting = await Promise.all(
      Array.from({ length: REVOKED }, () => late.begin([head, body.slice(0, 5)], ATTACKER)),
    );
    const minting = Array.from({ length: REVOKED }, minter);
    const revoking = wait(random.integer(100, 600)).then(() =>
      withDatabase(service.databaseUrl, (database) => database.write((trx) => revokeApiToken(trx, id, Date.now()))),
    );
    await revoking;
    revoked = true;
    for (const socket of waiting) socket?.write(body.slice(5));
    await Promise.all([...minting, load]);
    await until("the late calls are answered", () => late.open === 0 || sum(late.answers) === REVOKED, SOON);
    if (late.answers.has("200")) throw new Error("a call was accepted whose body arrived after its token was revoked");
    return refused + (late.answers.get("401") ?? 0);
  } finally {
    late.destroy();
  }
}

/** @returns how many calls were refused. @throws when one is not. */
async function tryUnknownTokens(world: World, load: Promise<unknown>): Promise<number> {
  let over = false;
  let refused = 0;
  const loading = load.finally(() => {
    over = true;
  });
  const stranger = async () => {
    while (!over && refused < MOST_UNKNOWN) {
      const url = world.random.pick(world.service.apiUrls);
      const token = `mnt_${world.random.integer(0, 1e9).toString().padStart(40, "0")}`;
      const { status } = await callFrom(url, { method: "POST", path: "/v1/nfts", token, body: "{}", from: STRANGER });
      if (status !== 401 && status !== 429) throw new Error(`an unknown token was answered with ${String(status)}`);
      refused += 1;
    }
  };
  await Promise.all([loading, ...Array.from({ length: UNKNOWN }, stranger)]);
  return refused;
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}
