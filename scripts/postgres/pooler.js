import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Client } from "pg";
import { freePort } from "../scene/loopback.ts";
import { Program, ROOT } from "../scene/program.ts";
import { output, replaced } from "../scene/system.ts";
import { nobody } from "./cluster.ts";
/** PgBouncer with ops/pgbouncer.ini. Only ports, paths and the names of databases differ. */
export class Pooler {
    #command;
    #folder;
    #server;
    #port;
    #running = null;
    constructor(command, folder, server, port) {
        this.#command = command;
        this.#folder = folder;
        this.#server = server;
        this.#port = port.toString();
    }
    /**
     * @param command path of the program. @param folder its own, which does not exist yet; root gives it and the one above to the
     * user that PgBouncer runs as. @param server URL of a database. With a path, `moneta` is this database; without one, each
     * database has its name.
     */
    static async start(command, folder, server) {
        const pooler = new Pooler(command, folder, server, await freePort());
        pooler.#configure();
        await pooler.#launch();
        return pooler;
    }
    url(database) {
        return Object.assign(new URL(this.#server), { port: this.#port, pathname: `/${database}` }).href;
    }
    async version() {
        return /PgBouncer (\S+)/.exec(await output(this.#command, ["--version"]))?.[1] ?? "";
    }
    async restart() {
        await this.stop();
        await this.#launch();
    }
    async stop() {
        await this.#running?.end("SIGINT");
    }
    /** How many clients are connected to the database, as PgBouncer's own console says. */
    async connections(database) {
        const client = new Client({ connectionString: this.url("pgbouncer") });
        await client.connect();
        try {
            const { rows } = await client.query("show clients");
            return rows.filter((row) => row.database === database).length;
        }
        finally {
            await client.end();
        }
    }
    async #launch() {
        // It refuses to run as root, and takes a user for that.
        const user = process.getuid?.() === 0 ? ["--user", "nobody"] : [];
        this.#running = new Program([...user, join(this.#folder, "pgbouncer.ini")], { command: this.#command });
        await this.#running.printed(/process up/);
    }
    #configure() {
        const { hostname, port, pathname, username, password } = this.#server;
        const users = join(this.#folder, "userlist.txt");
        const at = `host=${hostname} port=${port}`;
        const text = replaced(readFileSync(join(ROOT, "ops/pgbouncer.ini"), "utf8"), [
            [
                "moneta = host=127.0.0.1 port=5432 dbname=moneta",
                pathname.length > 1 ? `moneta = ${at} dbname=${pathname.slice(1)}` : `* = ${at}`,
            ],
            ["listen_port = 6432", `listen_port = ${this.#port}`],
            ["/etc/pgbouncer/userlist.txt", users],
        ]);
        mkdirSync(this.#folder);
        writeFileSync(join(this.#folder, "pgbouncer.ini"), `${text}unix_socket_dir =\nadmin_users = ${username}\n`);
        writeFileSync(users, `"${username}" "${password}"\n`);
        if (process.getuid?.() !== 0)
            return;
        const { uid, gid } = nobody();
        for (const path of [dirname(this.#folder), this.#folder, users, join(this.#folder, "pgbouncer.ini")]) {
            chownSync(path, uid, gid);
        }
    }
}
