import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { NodeProcess } from "../../scene/node.ts";
import { createAppIn, Scene } from "../../scene/scene.ts";
import { Load } from "./load.ts";
import { MeasuredService } from "./measured-service.ts";
import { sumOfAll } from "./usage.ts";
const CONNECTIONS = 64;
/** How often the benchmark polls whether everything is final: rarely, so that polling does not become load. */
const LOOK = 25;
/** Seconds without any progress after which the benchmark fails. */
const STALLED = 60;
const LOG_FILE = "service.log";
const ALL_ROLES = "api,relayer,indexer,webhooks,media";
/** A local node, the service as one or more processes, and an app with its token. */
export class World {
    node;
    processes;
    load;
    folder;
    token;
    /** The service's settings. */
    env;
    #scene;
    constructor(scene, fields) {
        this.#scene = scene;
        this.folder = scene.folder;
        this.node = fields.node;
        this.processes = fields.processes;
        this.load = fields.load;
        this.token = fields.token;
        this.env = fields.env;
    }
    static start(setting) {
        const { databases, node: startNode, settings = {}, inFront, roles = [ALL_ROLES] } = setting;
        return Scene.open("bench", async (scene) => {
            const { folder } = scene;
            const node = await scene.add(startNode?.() ?? NodeProcess.hardhat());
            const env = {
                RPC_URL: node.url,
                DATA_DIR: folder,
                DATABASE_URL: await databases.create(folder),
                // Hosted metadata would start with it. All processes need the same one.
                PUBLIC_URL: "http://localhost:3000",
                DEPLOYMENTS_DIR: join(folder, "deployments"),
                ...settings,
                ...(await inFront?.(node.url, scene)),
            };
            const processes = [];
            // One after the other: the first one deploys the contracts and creates the keys.
            for (const own of roles)
                processes.push(await scene.add(MeasuredService.open(env, join(folder, LOG_FILE), own)));
            const { token } = await createAppIn(env.DATABASE_URL, "bench");
            const load = await scene.add(new Load(urlsOf(processes), CONNECTIONS, token));
            return new World(scene, { node, processes, load, token, env });
        });
    }
    /** Where the processes answer HTTP calls. */
    get urls() {
        return urlsOf(this.processes);
    }
    /** What the processes have used together. */
    async usage() {
        return sumOfAll(await Promise.all(this.processes.map((process) => process.instruments.usage())));
    }
    async wallet() {
        const { address } = await this.load.send({ method: "POST", path: "/v1/accounts", body: {} });
        return address;
    }
    /** @param fields by default those of a self-hosted collection. */
    async collection(fields = { base_uri: "https://bench.example/" }) {
        const body = { type: "ERC721", name: "Bench", symbol: "BEN", ...fields };
        const { request_id: id } = await this.load.send({
            method: "POST",
            path: "/v1/collections",
            body,
        });
        const request = await this.final(id);
        if (request.nft_collection === undefined)
            throw new Error(`no collection: ${JSON.stringify(request)}`);
        return request.nft_collection;
    }
    /** @param look milliseconds between two polls. */
    async final(id, look = LOOK) {
        for (;;) {
            const request = await this.load.send({ method: "GET", path: `/v1/requests/${id}` });
            if (request.status === "completed")
                return request;
            if (request.status === "failed")
                throw new Error(`a request failed: ${JSON.stringify(request)}`);
            await wait(look);
        }
    }
    /** How many requests of a type are completed. */
    async completed(type) {
        const path = `/v1/requests?status=completed&type=${type}&limit=1`;
        return (await this.load.send({ method: "GET", path })).total;
    }
    /** Waits until `count` requests of a type are completed. @throws Error when there is no more progress. */
    async untilCompleted(type, count) {
        let [last, since] = [-1, performance.now()];
        for (;;) {
            const done = await this.completed(type);
            if (done >= count)
                return;
            if (done !== last)
                [last, since] = [done, performance.now()];
            if (performance.now() - since > STALLED * 1000) {
                throw new Error(`stalled at ${done.toString()} of ${count.toString()}. ${await this.#lastWords()}`);
            }
            await wait(LOOK);
        }
    }
    async #lastWords() {
        return (await readFile(join(this.folder, LOG_FILE), "utf8")).split("\n").slice(-5).join("\n");
    }
    /** CPU time of the node so far, in ms; null where the system does not report it. */
    async nodeCpuMs() {
        return cpuMsOf(this.node.pid);
    }
    async stopProcesses() {
        await Promise.all(this.processes.map((process) => process.stop()));
    }
    stop() {
        return this.#scene.close();
    }
}
function urlsOf(processes) {
    return processes.map(({ url }) => url).filter((url) => url !== null);
}
/** Linux reports it in clock ticks, 100 per second. */
async function cpuMsOf(pid) {
    try {
        const stat = await readFile(`/proc/${pid.toString()}/stat`, "utf8");
        const [user = "0", system = "0"] = stat
            .slice(stat.lastIndexOf(")") + 2)
            .split(" ")
            .slice(11, 13);
        return (Number(user) + Number(system)) * 10;
    }
    catch {
        return null;
    }
}
