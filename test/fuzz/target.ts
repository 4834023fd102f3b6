import { randomBytes } from "node:crypto";

import { getAddress, hexlify } from "ethers";

import { answerOf } from "../../client/client.ts";
import { RequestFailed } from "../../client/errors.ts";
import { createConsoleLink } from "../../api/commands/console-session.ts";
import { createApp } from "../../api/operate/apps.ts";
import { issueToken, SCOPES } from "../../api/commands/api-tokens.ts";
import { ApiClient } from "../support/api-client.ts";
import { type Conformance, conformanceOf } from "../support/conformance.ts";
import { startNode } from "../support/node.ts";
import { temporaryFolder } from "../support/folder.ts";
import { startTestService } from "../support/service.ts";
import type { Callers } from "./headers.ts";
import type { World } from "./values.ts";

/** Console sessions of the target. */
const SESSIONS = 40;

/** A real service on a real node, with rows of every kind. */
export interface Target {
  baseUrl: string;
  conformance: Conformance;
  world: World;
  callers: Callers;
  client: ApiClient["client"];
  stop(): Promise<void>;
}

/** @param databaseUrl by default a SQLite file in a folder of its own. */
export async function startTarget(databaseUrl?: string): Promise<Target> {
  const node = await startNode();
  const folder = await temporaryFolder();
  const service = await startTestService({
    rpcUrl: node.url,
    dataDir: folder.path,
    env: {
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
      // One token makes all the calls. No webhook is delivered to the URLs in them.
      RATE_LIMIT_PER_MINUTE: "10000000",
      PUBLIC_RATE_LIMIT_PER_MINUTE: "10000000",
      BATCH_ITEMS_PER_MINUTE: "10000000",
      ROLES: "api,relayer,indexer,media",
    },
  });
  const { appId } = await createApp(service, "fuzzed");
  const { token } = await issueToken(service, { appId, name: "every scope", scopes: SCOPES, expiresAt: null });
  const { token: reader } = await issueToken(service, { appId, name: "reader", scopes: ["read"], expiresAt: null });
  const { appId: strangerId, token: stranger } = await createApp(service, "stranger");
  const sessions: Record<string, string>[] = [];
  // Signing out ends some of them.
  for (let index = 0; index < SESSIONS; index++) sessions.push(await signIn(service, index % 2 === 0 ? appId : null));
  const api = ApiClient.at(service.baseUrl, token);
  return {
    baseUrl: service.baseUrl,
    conformance: await conformanceOf(service.baseUrl),
    world: await populate(api),
    callers: { tokens: [token, reader, stranger], sessions, apps: [appId, strangerId] },
    client: api.client,
    stop: async () => {
      await service.stop();
      await node.stop();
      await folder.remove();
    },
  };
}

/** The headers of a new session. @param appId null: the operator's. */
async function signIn(
  { baseUrl, database }: Awaited<ReturnType<typeof startTestService>>,
  appId: string | null,
): Promise<Record<string, string>> {
  const { url } = await createConsoleLink({ database, publicUrl: baseUrl }, { appId, scopes: null });
  const page = { "x-moneta-console": "1", origin: baseUrl };
  const response = await fetch(`${baseUrl}/v1/console/session`, {
    method: "POST",
    headers: { ...page, "content-type": "application/json" },
    body: JSON.stringify({ code: new URL(url).hash.replace("#code=", "") }),
  });
  if (response.status !== 200) throw new Error(await response.text());
  return { ...page, cookie: response.headers.getSetCookie()[0]?.split(";")[0] ?? "" };
}

async function populate(api: ApiClient): Promise<World> {
  const { address: alice } = await answerOf(api.client.POST("/v1/accounts", { body: { user_identifier: "alice" } }));
  const bob = await api.wallet();
  const cats = await api.collection({ type: "ERC721" });
  const gems = await api.collection({ type: "ERC1155", base_uri: "https://gems.example/{id}" });
  const few = await api.collection({ type: "ERC721", mint_supply_count: 2 });
  const mints = await Promise.all([
    ...[1, 2, 3, 4, 5].map(() =>
      api.done("/v1/nfts", { collection_address: cats, to_address: alice, name: "No. {token_id}" }),
    ),
    api.done("/v1/nfts", { collection_address: gems, initial_owner: alice, token_id: 1, initial_supply: 1_000_000 }),
    api.done("/v1/nfts", { collection_address: few, to_address: bob, unlockable_content: "hidden" }),
  ]);
  await api.client.PUT("/v1/webhook", { body: { url: "https://app.example/hook" } });
  await api.client.POST("/v1/webhook/test");
  const webhook = await answerOf(api.client.POST("/v1/webhooks", { body: { url: "https://app.example/other" } }));
  const { deliveries } = await answerOf(api.client.GET("/v1/webhook/deliveries"));
  const { next } = await answerOf(api.client.GET("/v1/requests", { params: { query: { limit: 1 } } }));
  const nobodys = getAddress(hexlify(randomBytes(20)));
  const [wallets, collections] = [
    [alice, bob],
    [cats, gems, few],
  ];
  const addresses = [...wallets, ...collections];
  return {
    wallets,
    collections,
    addresses: [...addresses, ...addresses.map((address) => address.toLowerCase()), nobodys],
    strings: [
      "alice",
      "31337",
      "1",
      ...mints.slice(0, 2).map((mint) => mint.request_id),
      ...deliveries.slice(0, 2).map(({ id }) => id),
      webhook.id,
      next ?? "",
    ],
  };
}

/** Milliseconds within which the last accepted requests must become final. */
const TIMEOUT = 120_000;

/** Waits until every accepted request is final. @returns a sentence for each that is not. */
export async function requestsThatAreLost({ client }: Target, accepted: Set<string>): Promise<string[]> {
  const deadline = performance.now() + TIMEOUT;
  const lost: string[] = [];
  for (const id of accepted) {
    const timeout = Math.max(0, deadline - performance.now());
    try {
      await client.waitFor(id, { timeout, interval: 100 });
    } catch (error) {
      if (error instanceof RequestFailed) continue;
      const { data } = await client.GET("/v1/requests/{request_id}", { params: { path: { request_id: id } } });
      lost.push(`request ${id} (${data?.type ?? "gone"}) is ${data?.status ?? "gone"}`);
    }
  }
  return lost;
}
