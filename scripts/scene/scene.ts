import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Quotas } from "../../api/domain/quota.ts";
import { createApp } from "../../api/operate/apps.ts";
import { type Database, openDatabase } from "../../api/store/db/database.ts";

/**
 * The clean-up steps of a fixture, run in reverse order. Every step runs, even after another has failed, so that no
 * process, server or folder is left behind.
 */
export class Cleanups {
  #steps: (() => Promise<unknown>)[] = [];

  add(step: () => Promise<unknown>): void {
    this.#steps.push(step);
  }

  /** @throws the error of the step that failed, or an AggregateError when several did; always after the last step. */
  async run(): Promise<void> {
    const errors: unknown[] = [];
    for (const step of this.#steps.splice(0).reverse()) {
      await step().catch((error: unknown) => errors.push(error));
    }
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) {
      throw new AggregateError(errors, `Several clean-up steps failed: ${errors.map(String).join("; ")}`);
    }
  }
}

type Part = { stop(): Promise<unknown> } | { close(): Promise<unknown> };

/**
 * A temporary folder, and what a world is made of: a node, a database, proxies, receivers and services. Each part stops with
 * the scene, the last one first, even when others fail to stop.
 */
export class Scene {
  readonly folder: string;
  readonly #cleanups = new Cleanups();
  /** Whether the folder stays, with the database and the logs. */
  keepsFolder = false;

  private constructor(folder: string) {
    this.folder = folder;
    this.#cleanups.add(async () => {
      if (!this.keepsFolder) await rm(folder, { recursive: true, force: true });
    });
  }

  /**
   * @param name a part of the folder's name.
   * @param build makes a world of parts. When that fails, those that exist already stop.
   */
  static async open<T>(name: string, build: (scene: Scene) => Promise<T>): Promise<T> {
    const scene = new Scene(await mkdtemp(join(tmpdir(), `moneta-${name}-`)));
    try {
      return await build(scene);
    } catch (error) {
      await scene.close();
      throw error;
    }
  }

  /** Stops the part with the scene. */
  async add<T extends Part>(starting: T | Promise<T>): Promise<T> {
    const part = await starting;
    this.#cleanups.add(() => ("stop" in part ? part.stop() : part.close()));
    return part;
  }

  async close(): Promise<void> {
    await this.#cleanups.run();
  }
}

/** Where a SQLite database is in a folder. */
export function sqliteUrl(folder: string): string {
  return `file:${join(folder, "moneta.sqlite")}`;
}

/** Adds an app to a database, as the command line does, with these quotas. A service may use the database at the same time. */
export function createAppIn(
  databaseUrl: string,
  name: string,
  quotas: Partial<Quotas> = {},
): Promise<{ appId: string; token: string }> {
  return withDatabase(databaseUrl, (database) => createApp({ database }, name, quotas));
}

/** Opens a database for some work. */
export async function withDatabase<T>(databaseUrl: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(databaseUrl);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
