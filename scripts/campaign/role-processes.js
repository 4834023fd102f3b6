import { randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createKeyring } from "../../api/keys/keyring.ts";
import { newSeedPhrase, writeSeedFile } from "../../api/keys/seed-file.ts";
import { freePort } from "../scene/loopback.ts";
import { withRecords } from "../scene/records.ts";
import { ControlledService } from "./controlled-service.ts";
import { DatabaseServer } from "./database-server.ts";
/** The roles, with the number of processes that have each. */
const PROCESSES = { api: 2, relayer: 2, indexer: 2, webhooks: 2, media: 2, ipfs: 1 };
export const PROCESS_ROLES = Object.keys(PROCESSES);
/** The shortest that the service accepts. */
export const LEASE_SECONDS = 3;
/** Eleven processes on one PostgreSQL database, two for most roles. They share no folder, as on eleven machines. */
export class RoleProcesses {
    database;
    apiUrls;
    members;
    #folder;
    #random;
    #ends = [];
    constructor(database, members, folder, random) {
        this.database = database;
        this.members = members;
        this.#folder = folder;
        this.#random = random;
        this.apiUrls = members
            .filter(({ role }) => role === "api")
            .map(({ env }) => `http://127.0.0.1:${String(env["PORT"])}`);
    }
    static async create(folder, settings, random) {
        const database = await DatabaseServer.start(random);
        try {
            return new RoleProcesses(database, await membersOf(folder, settings, database.serviceUrl), folder, random);
        }
        catch (error) {
            await database.stop();
            throw error;
        }
    }
    get databaseUrl() {
        return this.database.serviceUrl;
    }
    /** Starts the processes that do not run. The very first one creates the tables and deploys the contracts. */
    async start() {
        const [first] = this.members;
        if (first?.process === null)
            await this.#start(first);
        await Promise.all(this.members.map((member) => this.#start(member)));
    }
    async restartSenders() {
        await killAll(this.of("relayer"));
        await this.start();
    }
    async kill() {
        await killAll(this.members);
    }
    async stop() {
        await this.kill();
        await this.database.stop();
    }
    records() {
        return this.database.records();
    }
    unexpectedEnds() {
        for (const member of this.members)
            this.#noteEnd(member);
        return this.#ends.splice(0);
    }
    of(role) {
        return this.members.filter((member) => member.role === role);
    }
    /** A process that does the role's work: of a role whose processes stand by, one that has a lease. */
    async worker(role) {
        const leases = await this.#leases(role);
        const pids = new Set(leases.map(({ holder }) => Number(holder?.split("/")[2])));
        const working = this.of(role).filter(({ process }) => process?.exited === false && pids.has(process.pid));
        return this.#random.pick(working.length > 0 ? working : this.of(role));
    }
    /** Sum of the fencing tokens of a role's leases. It grows each time a process takes over a lease. */
    async fences(role) {
        return (await this.#leases(role)).reduce((sum, { fence }) => sum + fence, 0);
    }
    /** How often the pattern matches in the logs so far. */
    async countInLogs(pattern) {
        const logs = await Promise.all(this.members.map(({ name }) => readFile(this.#logOf(name), "utf8")));
        return logs.reduce((sum, log) => sum + [...log.matchAll(pattern)].length, 0);
    }
    async #leases(role) {
        const query = LEASES[role];
        return query === undefined ? [] : withRecords(this.records(), (records) => records.all(query));
    }
    async #start(member) {
        if (member.process?.exited === false)
            return;
        this.#noteEnd(member);
        member.process = await ControlledService.open(member.env, this.#logOf(member.name));
    }
    #noteEnd({ name, process }) {
        const end = process?.unexpectedEnd ?? null;
        if (end !== null)
            this.#ends.push(`${name} ended by itself: ${end}`);
    }
    #logOf(name) {
        return join(this.#folder, `${name}.log`);
    }
}
async function killAll(members) {
    await Promise.all(members.map(async ({ process }) => {
        await process?.kill();
    }));
}
/** The leases of the roles of which one process works. */
const LEASES = {
    relayer: "select lease_holder holder, lease_fence fence from lanes",
    indexer: "select holder, fence from leases where name = 'indexer'",
};
async function membersOf(folder, settings, databaseUrl) {
    const phrase = newSeedPhrase();
    const seed = { SEED_FILE: join(folder, "seed.jwe"), SEED_PASSPHRASE: randomBytes(16).toString("hex") };
    await writeSeedFile(seed.SEED_FILE, phrase, seed.SEED_PASSPHRASE);
    const sealing = { SECRET_KEYS: randomBytes(32).toString("base64") };
    const secrets = {
        api: { ...sealing, XPUB: createKeyring(phrase).walletsPublicKey },
        relayer: seed,
        indexer: {},
        webhooks: sealing,
        media: {},
        // It connects to nobody.
        ipfs: { IPFS_LISTEN: "/ip4/127.0.0.1/tcp/0", IPFS_BOOTSTRAP: "none" },
    };
    const shared = {
        ...settings,
        DATABASE_URL: databaseUrl,
        LEASE_SECONDS: LEASE_SECONDS.toString(),
        PUBLIC_URL: "http://campaign.example",
    };
    const members = [];
    for (const role of PROCESS_ROLES) {
        for (let number = 1; number <= PROCESSES[role]; number++) {
            const name = `${role}-${number.toString()}`;
            const dataDir = join(folder, name);
            await mkdir(dataDir);
            const port = role === "api" ? await freePort() : 0;
            const env = { ...shared, ...secrets[role], ROLES: role, DATA_DIR: dataDir, PORT: port.toString() };
            members.push({ role, name, env, process: null });
        }
    }
    return members;
}
