import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Express } from "express";
import { pino } from "pino";

import { createApp as createTenant } from "../../../api/operate/apps.ts";
import { DEFAULT_LIMITS, type Limits } from "../../../api/config/limits.ts";
import { pickSettings } from "../../../api/config/settings.ts";
import type { Readiness } from "../../../api/domain/conditions.ts";
import type { BlockStore } from "../../../api/content/block-store.ts";
import { createKeyring } from "../../../api/keys/keyring.ts";
import { createSealer, type Sealer } from "../../../api/keys/sealer.ts";
import { newSeedPhrase } from "../../../api/keys/seed-file.ts";
import { createWalletDeriver } from "../../../api/keys/wallet-deriver.ts";
import type { AddressPolicy } from "../../../api/outbound/addresses.ts";
import { NO_METRICS } from "../../../api/shared/metrics.ts";
import { Signal } from "../../../api/shared/signal.ts";
import { parseExact } from "../../../client/rules/exact-json.ts";
import { type Database, openDatabase } from "../../../api/store/db/database.ts";
import { createExpressApp } from "../../../api/v1/app.ts";
import type { AppDeps } from "../../../api/v1/deps.ts";
import type { Arrivals } from "../../../api/v1/gate.ts";
import { createHttpServer, stopHttpServer } from "../../../api/v1/server.ts";
import { EventStreams, type EventStreamsDeps, type StreamTimes } from "../../../api/v1/streams/event-streams.ts";
import { type Conformance, conformanceOfSettings } from "../../support/conformance.ts";
import { createTestDatabase } from "../../support/database.ts";
import { FakeAdoptables } from "./fake-adoptables.ts";
import { FakeForeign } from "./fake-foreign.ts";
import { type BlockStoreKind, openTestBlocks, type TestBlocks } from "./test-blocks.ts";
import type { ArrivingToken, Receiver, ReceiverReads } from "../../../api/chain/receivers.ts";

/** A fake of the chain reader for receivers. Whatever a test does not name is an account. */
class FakeReceivers implements ReceiverReads {
  readonly found = new Map<string, Receiver>();
  readonly asked: { token: ArrivingToken; addresses: readonly string[] }[] = [];
  /** An answer waits for it. */
  until: Promise<unknown> | null = null;

  /** The limits of the calls, in the order of `asked`. */
  readonly aborts: AbortSignal[] = [];

  async read(token: ArrivingToken, addresses: readonly string[], abort: AbortSignal): Promise<Receiver[]> {
    this.asked.push({ token, addresses });
    this.aborts.push(abort);
    await this.until;
    const account: Receiver = { is: "account", delegate: null, accepts: true, reason: null };
    return addresses.map((address) => this.found.get(address) ?? account);
  }
}

export const PUBLIC_URL = "https://nft.example";
export const EXPLORER_URL = "https://explorer.example";
const OPERATORS_SETTINGS = { explorerUrl: EXPLORER_URL, ...pickSettings({}, "appQuotas") };
export const CHAIN_ID = 31337;
export const RELAY = "0xe1EC00000000000000000000000000000000e1EC";

/** An app with a token, as a caller of the API. */
export interface Tenant {
  id: string;
  token: string;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  body: Body;
}

/** The body of any answer, with every field optional. Its shape was checked against the document before. */
export interface Body extends Item {
  error_code?: string;
  wallets?: Item[];
  nfts?: Item[];
  collection?: Item;
  collections?: Item[];
  contracts?: Item[];
  history?: Item[];
  requests?: Item[];
  owners?: Item[];
  total?: number;
  limit?: number;
  offset?: number;
  next?: string | null;
}

/** One thing in an answer. */
export interface Item {
  id?: string;
  address?: string;
  user_identifier?: string | null;
  request_id?: string;
  status?: string;
  type?: string;
  state?: string;
  token_id?: number | string;
  as_of_block?: number | null;
  nft_token_id?: number | string | null;
  nft_collection?: string | null;
  contract_address?: string;
  unlockable_content?: string | null;
  token_uri?: string | null;
  minted_at?: string | null;
  secret?: string | null;
  url?: string;
}

interface CallOptions {
  token?: string | null;
  body?: unknown;
  /** Sent as it is, in place of `body`. */
  raw?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
}

/** The whole HTTP side with its own port and database. Only the chain is a fake. `startApi` fills the parts in. */
export class TestApi {
  readonly baseUrl!: string;
  readonly database!: Database;
  readonly blocksFolder!: string;
  readonly stored!: TestBlocks;
  readonly foreign!: FakeForeign;
  readonly receivers = new FakeReceivers();
  readonly sealer!: Sealer;
  readonly databaseUrl!: string;
  readonly log!: string[];
  /** Connections and calls that the server has accepted. */
  readonly arrivals!: Arrivals;
  /** Raise it after storing rows as the indexer would. */
  readonly blocksStored!: Signal;
  /** What the published document follows from. */
  readonly documented!: { publicUrl: string; limits: Limits };
  readiness: Readiness = { ready: true, checks: { database: "ok" }, details: { database: "ok" } };
  notified = 0;
  /** Events that were sent in streams. */
  streamed = 0;
  /** Called when a delivery became due. */
  deliveriesDue: () => void = () => undefined;
  /** The app that calls unless another token is given. */
  app: Tenant = { id: "", token: "" };
  other: Tenant = { id: "", token: "" };
  close: () => Promise<void> = () => Promise.resolve();
  #conformance: Promise<Conformance> | null = null;

  get blocks(): BlockStore {
    return this.stored.blocks;
  }

  get(path: string, options: CallOptions = {}): Promise<Answer> {
    return this.call("GET", path, options);
  }

  post(path: string, body: unknown, options: CallOptions = {}): Promise<Answer> {
    return this.call("POST", path, { body, ...options });
  }

  /** Calls, and checks the answer against the document that the service publishes. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const { token = this.app.token } = options;
    const payload = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(payload === undefined ? {} : { "content-type": "application/json" }),
        ...options.headers,
      },
      ...(payload === undefined ? {} : { body: payload }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    const body = text === "" || !isJson ? undefined : parseExact(text);
    this.#conformance ??= conformanceOfSettings(this.documented, this.baseUrl);
    (await this.#conformance).check({ method, path, status: response.status, headers: response.headers, text });
    return { status: response.status, headers: response.headers, text, body: body ?? {} };
  }
}

export interface ApiOptions {
  publicUrl?: string;
  /** The beginning of a command line, as on a local chain. */
  localCli?: string;
  limits?: Partial<Limits>;
  appGasPerDay?: number;
  trustProxy?: string[];
  addressPolicy?: AddressPolicy;
  store?: BlockStoreKind;
  /** Bytes of the disk that media leave free. */
  keepFree?: number;
  streamTimes?: Partial<StreamTimes>;
  idleTimeout?: number;
}

function unknown(): Promise<null> {
  return Promise.resolve(null);
}

const NO_STATE: Pick<AppDeps, "state" | "doctor"> = {
  state: {
    ...{ database: unknown, chain: unknown, disk: unknown, reasons: unknown, spent: unknown },
    ...{ deliveries: unknown, processes: unknown },
    ...{
      now: Date.now,
      lanes: [0],
      nodes: () => ({ states: [], disagreement: null, isLimited: false }),
    },
  },
  doctor: unknown,
};

/** Its database is its own, so it can have the same keys as others. */
const DERIVER = createWalletDeriver(createKeyring(newSeedPhrase()).walletsPublicKey);

export async function startApi(options: ApiOptions = {}): Promise<TestApi> {
  const folder = await mkdtemp(join(tmpdir(), "moneta-http-"));
  const place = await createTestDatabase({ folder });
  const database = await openDatabase(place.url);
  const blocksFolder = join(folder, "blocks");
  const at = { dataDir: folder, database, keepFree: options.keepFree ?? null };
  const stored = await openTestBlocks(options.store ?? "files", at);
  const foreign = new FakeForeign();
  const sealer = createSealer([{ id: "test", bytes: randomBytes(32) }]);
  const log: string[] = [];
  // Assigned before the first call: the app reads it only while it answers.
  const state: State = {};
  const logger = pino({ level: "info" }, { write: (line) => void log.push(line) });
  const limits = { ...DEFAULT_LIMITS, ratePerMinute: 1_000_000, batchItemsPerMinute: 1_000_000, ...options.limits };
  const streaming = runStreams(state, { read: database.read, limits, logger, times: options.streamTimes ?? {} });
  const documented = { publicUrl: options.publicUrl ?? PUBLIC_URL, limits };
  const blocksStored = new Signal();
  const arrivals = { count: 0 };
  const app = createExpressApp({
    settings: {
      ...{ ...documented, ...OPERATORS_SETTINGS, dataDir: folder },
      appGasPerDay: options.appGasPerDay ?? null,
      trustProxy: options.trustProxy ?? [],
    },
    database,
    blocks: stored.blocks,
    deriver: DERIVER,
    sealer,
    foreign,
    adoptables: new FakeAdoptables(),
    receivers: { read: (...call) => state.api!.receivers.read(...call) },
    signals: signalsOf(state, blocksStored),
    addressPolicy: options.addressPolicy ?? { allowedHosts: new Set(["10.1.2.3"]), allowLoopback: false },
    streams: streaming.streams,
    logger,
    metrics: NO_METRICS,
    readiness: () => Promise.resolve(state.api?.readiness ?? { ready: false, checks: {}, details: {} }),
    ...NO_STATE,
    chainProblem: () => null,
    apiProcesses: () => 1,
    ...{ chainId: CHAIN_ID, localCli: options.localCli ?? null, arrivals },
    relay: RELAY,
  });
  const { server, baseUrl } = await listen(app, limits, arrivals);
  if (options.idleTimeout !== undefined) server.timeout = options.idleTimeout;
  const parts = { baseUrl, database, databaseUrl: place.url, blocksFolder, stored, foreign, sealer };
  const api = (state.api = Object.assign(new TestApi(), { ...parts, log, arrivals, blocksStored, documented }));
  api.app = await addApp(api, "first");
  api.other = await addApp(api, "second");
  api.close = async () => {
    streaming.streams.end();
    await stopHttpServer(server, 1_000);
    await streaming.stop();
    await stored.close();
    await database.close();
    await place.remove();
    await rm(folder, { recursive: true, force: true });
  };
  return api;
}

async function listen(app: Express, limits: Limits, arrivals: { count: number }) {
  const server = createHttpServer(app, {}, { limits, arrivals, isProxy: () => false, refused: () => undefined });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port.toString()}` };
}

export async function addApp(api: TestApi, name: string): Promise<Tenant> {
  const { appId, token } = await createTenant(api, name);
  return { id: appId, token };
}

/** What the parts of a `TestApi` report to. It is set before the first call. */
interface State {
  api?: TestApi;
}

/** Serves the event streams. Only polling finds events, as it finds those of other processes. */
function runStreams(state: State, deps: Omit<EventStreamsDeps, "stored" | "metrics">) {
  const streamed = (events: number) => {
    if (state.api !== undefined) state.api.streamed += events;
  };
  const streams = new EventStreams({ ...deps, stored: new Signal(), metrics: { ...NO_METRICS, streamed } });
  const stopping = new AbortController();
  const running = streams.run(stopping.signal);
  const stop = () => {
    stopping.abort();
    return running;
  };
  return { streams, stop };
}

/** What the app notifies, counted and passed on by the `TestApi`. */
function signalsOf(state: State, stored: Signal) {
  return {
    requests: {
      notify: () => {
        if (state.api !== undefined) state.api.notified += 1;
      },
    },
    deliveries: {
      notify: () => {
        state.api?.deliveriesDue();
      },
      listen: (listener: () => void) => {
        stored.listen(listener);
      },
    },
    media: { notify: () => undefined },
    contracts: { notify: () => undefined },
  };
}
