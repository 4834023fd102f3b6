import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { findPostgres } from "../postgres/programs.ts";
import { PostgresServer } from "../postgres/server.ts";
import { runCommand } from "../scene/command-line.ts";
import { freePort } from "../scene/loopback.ts";
import { anvilBinary } from "../scene/anvil.ts";
import { NodeProcess } from "../scene/node.ts";
import { WebhookReceiver } from "../scene/receiver.ts";
import { createAppIn, Scene, sqliteUrl } from "../scene/scene.ts";
import { ServiceProcess } from "../scene/service.ts";
const DATABASE = "drill";
/** A chain, a service with its data on a "disk" that can be lost, and a receiver of webhooks. Keys are elsewhere. */
export class World {
    folder;
    node;
    receiver;
    baseUrl;
    env;
    #scene;
    #server;
    #service = null;
    token = "";
    constructor(scene, parts) {
        this.#scene = scene;
        this.folder = scene.folder;
        this.node = parts.node;
        this.receiver = parts.receiver;
        this.#server = parts.server;
        this.env = parts.env;
        this.baseUrl = `http://127.0.0.1:${parts.env["PORT"] ?? ""}`;
    }
    static create(engine) {
        return Scene.open("drill", async (scene) => {
            const { folder } = scene;
            const node = await scene.add(NodeProcess.start(anvilBinary() === null ? "hardhat" : "anvil", folder));
            const receiver = await scene.add(WebhookReceiver.listen());
            const server = engine === "postgres" ? await scene.add(PostgresServer.start("system")) : null;
            const database = server === null
                ? {}
                : { DATABASE_URL: await server.createDatabase(DATABASE), PG_BIN: findPostgres("system").folder };
            await mkdir(join(folder, "keys"));
            const env = {
                PORT: (await freePort()).toString(),
                RPC_URL: node.url,
                DATA_DIR: join(folder, "disk"),
                DEPLOYMENTS_DIR: join(folder, "disk", "deployments"),
                MEDIA_STORE: "files",
                SEED_FILE: join(folder, "keys", "seed.jwe"),
                SEED_PASSPHRASE: randomBytes(16).toString("hex"),
                SECRET_KEYS: randomBytes(32).toString("base64"),
                RATE_LIMIT_PER_MINUTE: "1000000",
                PUBLIC_RATE_LIMIT_PER_MINUTE: "1000000",
                BATCH_ITEMS_PER_MINUTE: "1000000",
                NODE_COMPILE_CACHE: join(folder, "compiled"),
                ...database,
            };
            const world = new World(scene, { node, receiver, server, env });
            await scene.add({ stop: () => world.kill() });
            return world;
        });
    }
    get databaseUrl() {
        return this.env["DATABASE_URL"] ?? sqliteUrl(join(this.folder, "disk"));
    }
    /** @param more settings for this start. */
    async start(more = {}) {
        this.#service = await ServiceProcess.start({ ...this.env, ...more }, join(this.folder, "service.log"));
        if (this.token === "")
            this.token = (await createAppIn(this.databaseUrl, "drill")).token;
    }
    async kill() {
        await this.#service?.kill();
    }
    /** Deletes everything but the keys and the back-ups. On PostgreSQL, an empty database takes the place of the old one. */
    async loseDisk() {
        await rm(join(this.folder, "disk"), { recursive: true });
        await this.#server?.dropDatabase(DATABASE);
        await this.#server?.createDatabase(DATABASE);
    }
    /** Runs a command of the command line. @returns its output. @throws when it fails. */
    cli(...words) {
        return runCommand(this.env, words);
    }
    async call(method, path, body, key) {
        const response = await fetch(this.baseUrl + path, {
            method,
            headers: {
                authorization: `Bearer ${this.token}`,
                "content-type": "application/json",
                ...(key === undefined ? {} : { "idempotency-key": key }),
            },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
            signal: AbortSignal.timeout(30_000),
        });
        return { status: response.status, body: (await response.json()) };
    }
    stop() {
        return this.#scene.close();
    }
}
