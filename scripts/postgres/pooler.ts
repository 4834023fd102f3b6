import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { freePort } from "../scene/loopback.ts";
import { Program, ROOT } from "../scene/program.ts";
import { output, replaced } from "../scene/system.ts";
import { nobody } from "./cluster.ts";

/** PgBouncer with ops/pgbouncer.ini. Only ports, paths and the names of databases differ. */
export class Pooler {
  readonly #command: string;
  readonly #folder: string;
  readonly #server: URL;
  readonly #port: string;
  #running: Program | null = null;

  private constructor(command: string, folder: string, server: URL, port: number) {
    this.#command = command;
    this.#folder = folder;
    this.#server = server;
    this.#port = port.toString();
  }

  /**
   * @param command path of the program. @param folder its own, which does not exist yet; root gives it and the one above to the
   * user that PgBouncer runs as. @param server URL of the database that has the name `moneta` in PgBouncer.
   */
  static async start(command: string, folder: string, server: URL): Promise<Pooler> {
    const pooler = new Pooler(command, folder, server, await freePort());
    pooler.#configure();
    await pooler.#launch();
    return pooler;
  }

  get url(): string {
    return Object.assign(new URL(this.#server), { port: this.#port, pathname: "/moneta" }).href;
  }

  async version(): Promise<string> {
    return /PgBouncer (\S+)/.exec(await output(this.#command, ["--version"]))?.[1] ?? "";
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.#launch();
  }

  async stop(): Promise<void> {
    await this.#running?.end("SIGINT");
  }

  async #launch(): Promise<void> {
    // It refuses to run as root, and takes a user for that.
    const user = process.getuid?.() === 0 ? ["--user", "nobody"] : [];
    this.#running = new Program([...user, join(this.#folder, "pgbouncer.ini")], { command: this.#command });
    await this.#running.printed(/process up/);
  }

  #configure(): void {
    const { hostname, port, pathname, username, password } = this.#server;
    const users = join(this.#folder, "userlist.txt");
    const text = replaced(readFileSync(join(ROOT, "ops/pgbouncer.ini"), "utf8"), [
      [
        "moneta = host=127.0.0.1 port=5432 dbname=moneta",
        `moneta = host=${hostname} port=${port} dbname=${pathname.slice(1)}`,
      ],
      ["listen_port = 6432", `listen_port = ${this.#port}`],
      ["/etc/pgbouncer/userlist.txt", users],
    ]);
    mkdirSync(this.#folder);
    writeFileSync(join(this.#folder, "pgbouncer.ini"), `${text}unix_socket_dir =\n`);
    writeFileSync(users, `"${username}" "${password}"\n`);
    if (process.getuid?.() !== 0) return;
    const { uid, gid } = nobody();
    for (const path of [dirname(this.#folder), this.#folder, users, join(this.#folder, "pgbouncer.ini")]) {
      chownSync(path, uid, gid);
    }
  }
}
