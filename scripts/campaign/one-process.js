import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import BetterSqlite3 from "better-sqlite3";
import { freePort } from "../scene/loopback.ts";
import { pause } from "../scene/program.ts";
import { openRecords, withRecords } from "../scene/records.ts";
import { ControlledService } from "./controlled-service.ts";
/** All roles in one process, with its database in a file. */
export class OneProcess {
    apiUrls;
    #folder;
    #env;
    #process = null;
    constructor(folder, port, settings) {
        this.#folder = folder;
        this.apiUrls = [`http://127.0.0.1:${port}`];
        this.#env = { ...settings, PORT: port, DATA_DIR: folder };
    }
    static async create(folder, settings) {
        return new OneProcess(folder, (await freePort()).toString(), settings);
    }
    get file() {
        return join(this.#folder, "moneta.sqlite");
    }
    get databaseUrl() {
        return `file:${this.file}`;
    }
    get process() {
        if (this.#process === null)
            throw new Error("the service is not running");
        return this.#process;
    }
    /** @param extra settings that may name a crash point. */
    async start(extra = {}) {
        if (this.#process?.exited === false)
            return;
        this.#process = await ControlledService.open({ ...this.#env, ...extra }, join(this.#folder, "api.log"));
    }
    async kill() {
        if (this.#process?.exited === false)
            await this.#process.kill();
    }
    async restart(extra = {}) {
        await this.kill();
        await this.start(extra);
    }
    restartSenders() {
        return this.restart();
    }
    stop() {
        return this.kill();
    }
    records() {
        return openRecords(this.databaseUrl);
    }
    unexpectedEnds() {
        const end = this.#process?.unexpectedEnd ?? null;
        return end === null ? [] : [`the service ended by itself: ${end}`];
    }
    /** Starts a second process on the same database, without an API. */
    async startSecond() {
        const env = { ...this.#env, ROLES: "relayer,indexer,webhooks" };
        return ControlledService.open(env, join(this.#folder, "second.log"));
    }
    /** Freezes the service's process, but not inside a transaction, because that would block the database. */
    async freeze() {
        for (;;) {
            await pause(this.process.pid);
            if (this.#canWrite())
                return;
            this.process.signal("SIGCONT");
            await wait(10);
        }
    }
    #canWrite() {
        const database = new BetterSqlite3(this.file, { timeout: 0 });
        try {
            database.exec("begin immediate; rollback");
            return true;
        }
        catch {
            return false;
        }
        finally {
            database.close();
        }
    }
    /** Sum of the lanes' fencing tokens. It grows each time a process takes over a lane. */
    async fences() {
        const query = "select sum(lease_fence) n from lanes";
        return (await withRecords(this.records(), (records) => records.one(query))).n;
    }
    /** The service's log so far. */
    log() {
        return readFile(join(this.#folder, "api.log"), "utf8");
    }
}
