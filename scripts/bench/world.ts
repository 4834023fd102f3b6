import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";

import { NodeProcess } from "../scene/node.ts";
import { Scene } from "../scene/scene.ts";
import { ServiceProcess } from "../scene/service.ts";
import type { Usage } from "./counters.ts";
import { Load } from "./load.ts";
import type { Lab } from "./scenario.ts";

const COUNTERS = join(import.meta.dirname, "counters.ts");
const CONNECTIONS = 64;
/** Milliseconds between two polls for what is final: rarely, so that polling does not become load. */
const POLL = 25;
/** Milliseconds without any progress after which the benchmark fails. */
const STALLED = 60_000;
const ALL_ROLES = "api,relayer,indexer,webhooks,media";
const UNLIMITED = "100000000";

interface RequestView {
  status: string;
  nft_collection?: string;
}

export interface Setting {
  settings?: Record<string, string>;
  /** `ROLES` of the process. */
  roles?: string;
  node?: () => Promise<NodeProcess>;
}

/** A local node, the service of a checkout as one process, and an app with its token. */
export class World {
  readonly node: NodeProcess;
  readonly folder: string;
  readonly token: string;
  readonly #scene: Scene;
  readonly #lab: Lab;
  readonly #env: Record<string, string>;
  #service: ServiceProcess;
  load: Load;

  private constructor(scene: Scene, lab: Lab, fields: Pick<World, "node" | "token" | "load"> & Started) {
    this.#scene = scene;
    this.#lab = lab;
    this.folder = scene.folder;
    this.node = fields.node;
    this.token = fields.token;
    this.load = fields.load;
    this.#env = fields.env;
    this.#service = fields.service;
  }

  /** Runs some work in a world that stops afterwards. */
  static async use<T>(lab: Lab, setting: Setting, work: (world: World) => Promise<T>): Promise<T> {
    const world = await World.#start(lab, setting);
    try {
      return await work(world);
    } finally {
      await world.load.close();
      await world.#service.stop();
      await world.#scene.close();
    }
  }

  static #start(lab: Lab, { settings = {}, roles = ALL_ROLES, node: startNode }: Setting): Promise<World> {
    return Scene.open("bench", async (scene) => {
      const { folder } = scene;
      const node = await scene.add(startNode?.() ?? NodeProcess.hardhat());
      const env = {
        RPC_URL: node.url,
        DATA_DIR: folder,
        DATABASE_URL: await lab.databases.create(folder),
        // Hosted metadata would start with it.
        PUBLIC_URL: "http://localhost:3000",
        DEPLOYMENTS_DIR: join(folder, "deployments"),
        PORT: "0",
        RATE_LIMIT_PER_MINUTE: UNLIMITED,
        PUBLIC_RATE_LIMIT_PER_MINUTE: UNLIMITED,
        BATCH_ITEMS_PER_MINUTE: UNLIMITED,
        ...settings,
      };
      const service = await startService(lab, env, folder, roles);
      try {
        const token = await createApp(lab.checkout, env);
        const load = new Load(service.url ?? "", CONNECTIONS, token);
        return new World(scene, lab, { node, token, load, env, service });
      } catch (error) {
        await service.kill();
        throw error;
      }
    });
  }

  get pid(): number {
    return this.#service.pid;
  }

  get url(): string {
    return this.#service.url ?? "";
  }

  async stopService(): Promise<void> {
    await this.load.close();
    await this.#service.stop();
  }

  /** Starts it again on the same database, when it was stopped. */
  async startService(roles = ALL_ROLES): Promise<void> {
    this.#service = await startService(this.#lab, this.#env, this.folder, roles);
    this.load = new Load(this.url, CONNECTIONS, this.token);
  }

  usage(): Promise<Usage> {
    return this.#service.ask<Usage>("usage");
  }

  async wallet(fields: object = {}): Promise<string> {
    const call = { method: "POST", path: "/v1/accounts", body: fields } as const;
    return (await this.load.send<{ address: string }>(call)).address;
  }

  /** @param fields by default those of a self-hosted collection. */
  async collection(fields: object = { base_uri: "https://bench.example/" }): Promise<string> {
    const body = { type: "ERC721", name: "Bench", symbol: "BEN", ...fields };
    const call = { method: "POST", path: "/v1/collections", body } as const;
    const { request_id: id } = await this.load.send<{ request_id: string }>(call);
    const { nft_collection: address } = await this.final(id);
    if (address === undefined) throw new Error("a completed request has no collection");
    return address;
  }

  /** @param poll milliseconds between two polls. */
  async final(id: string, poll = POLL): Promise<RequestView> {
    for (;;) {
      const request = await this.load.send<RequestView>({ method: "GET", path: `/v1/requests/${id}` });
      if (request.status === "completed") return request;
      if (request.status === "failed") throw new Error(`a request failed: ${JSON.stringify(request)}`);
      await wait(poll);
    }
  }

  /** Waits until `count` requests of a type are completed. */
  async untilCompleted(type: string, count: number): Promise<void> {
    await this.untilTotal(`/v1/requests?status=completed&type=${type}`, count);
  }

  /** Waits until a list has `count` entries. @throws Error when there is no more progress. */
  async untilTotal(path: string, count: number): Promise<void> {
    let [last, since] = [-1, performance.now()];
    for (;;) {
      const { total } = await this.load.send<{ total: number }>({
        method: "GET",
        path: `${path}${path.includes("?") ? "&" : "?"}limit=1`,
      });
      if (total >= count) return;
      if (total !== last) [last, since] = [total, performance.now()];
      if (performance.now() - since > STALLED) {
        const newest = await this.load.send({ method: "GET", path: "/v1/requests?limit=3" });
        throw new Error(`stalled at ${total.toString()} of ${count.toString()}: ${JSON.stringify(newest)}`);
      }
      await wait(POLL);
    }
  }

  /** Mints through single calls, until all are completed. @param before mints that were completed. */
  async mint(body: object, mints: number, before: number): Promise<void> {
    await this.load.run(mints, () => ({ method: "POST", path: "/v1/nfts", body }));
    await this.untilCompleted("mint", before + mints);
  }

  /** Mints through `POST /v1/nfts/batch`, two batches at a time, until all are completed. */
  async mintInBatches(body: object, mints: number, before: number): Promise<void> {
    let left = Math.ceil(mints / BATCH);
    const items = Array.from({ length: BATCH }, () => body);
    const send = async () => {
      while (left-- > 0) {
        const call = { method: "POST", path: "/v1/nfts/batch", body: { items } } as const;
        const { results } = await this.load.send<{ results: { request_id?: string }[] }>(call);
        if (results.some(({ request_id: id }) => id === undefined)) throw new Error("an item of a batch was refused");
      }
    };
    await Promise.all([send(), send()]);
    await this.untilCompleted("mint", before + Math.ceil(mints / BATCH) * BATCH);
  }
}

/** Items of a batch: as many as the API takes. */
export const BATCH = 1_000;

interface Started {
  env: Record<string, string>;
  service: ServiceProcess;
}

async function startService(
  { checkout, profiles }: Lab,
  env: Record<string, string>,
  folder: string,
  roles: string,
): Promise<ServiceProcess> {
  const profiling = profiles === null ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profiles}` };
  const service = new ServiceProcess(
    { ...env, ...profiling, ROLES: roles },
    join(folder, "service.log"),
    COUNTERS,
    checkout,
  );
  await service.serving();
  return service;
}

/** Creates it with the checkout's own command. @returns its token. */
async function createApp(checkout: string, env: Record<string, string>): Promise<string> {
  const args = ["api/cli/main.ts", "app", "create", "bench", "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: checkout,
    env: { PATH: process.env["PATH"], ...env },
  });
  return (JSON.parse(stdout) as { token: string }).token;
}
