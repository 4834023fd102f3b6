import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import BetterSqlite3 from "better-sqlite3";

import { freePort } from "../scene/loopback.ts";
import { pause } from "../scene/program.ts";
import { openRecords, type Records, withRecords } from "../scene/records.ts";
import { ControlledService } from "./controlled-service.ts";
import type { Service } from "./service.ts";

/** All roles in one process, with its database in a file. */
export class OneProcess implements Service {
  readonly apiUrls: readonly string[];
  readonly #folder: string;
  readonly #env: Record<string, string>;
  #process: ControlledService | null = null;

  private constructor(folder: string, port: string, settings: Record<string, string>) {
    this.#folder = folder;
    this.apiUrls = [`http://127.0.0.1:${port}`];
    this.#env = { ...settings, PORT: port, DATA_DIR: folder };
  }

  static async create(folder: string, settings: Record<string, string>): Promise<OneProcess> {
    return new OneProcess(folder, (await freePort()).toString(), settings);
  }

  get file(): string {
    return join(this.#folder, "moneta.sqlite");
  }

  get databaseUrl(): string {
    return `file:${this.file}`;
  }

  get process(): ControlledService {
    if (this.#process === null) throw new Error("the service is not running");
    return this.#process;
  }

  /** @param extra settings that may name a crash point. */
  async start(extra: Record<string, string> = {}): Promise<void> {
    if (this.#process?.exited === false) return;
    this.#process = await ControlledService.open({ ...this.#env, ...extra }, join(this.#folder, "api.log"));
  }

  async kill(): Promise<void> {
    if (this.#process?.exited === false) await this.#process.kill();
  }

  async restart(extra: Record<string, string> = {}): Promise<void> {
    await this.kill();
    await this.start(extra);
  }

  restartSenders(): Promise<void> {
    return this.restart();
  }

  stop(): Promise<void> {
    return this.kill();
  }

  records(): Promise<Records> {
    return openRecords(this.databaseUrl);
  }

  unexpectedEnds(): string[] {
    const end = this.#process?.unexpectedEnd ?? null;
    return end === null ? [] : [`the service ended by itself: ${end}`];
  }

  /** Starts a second process on the same database, without an API. */
  async startSecond(): Promise<ControlledService> {
    const env = { ...this.#env, ROLES: "relayer,indexer,webhooks" };
    return ControlledService.open(env, join(this.#folder, "second.log"));
  }

  /** Freezes the service's process, but not inside a transaction, because that would block the database. */
  async freeze(): Promise<void> {
    for (;;) {
      await pause(this.process.pid);
      if (this.#canWrite()) return;
      this.process.signal("SIGCONT");
      await wait(10);
    }
  }

  #canWrite(): boolean {
    const database = new BetterSqlite3(this.file, { timeout: 0 });
    try {
      database.exec("begin immediate; rollback");
      return true;
    } catch {
      return false;
    } finally {
      database.close();
    }
  }

  /** Sum of the lanes' fencing tokens. It grows each time a process takes over a lane. */
  async fences(): Promise<number> {
    const query = "select sum(lease_fence) n from lanes";
    return (await withRecords(this.records(), (records) => records.one<{ n: number }>(query))).n;
  }

  /** The service's log so far. */
  log(): Promise<string> {
    return readFile(join(this.#folder, "api.log"), "utf8");
  }
}
