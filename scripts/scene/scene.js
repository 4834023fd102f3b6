import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../../api/operate/apps.ts";
import { openDatabase } from "../../api/store/db/database.ts";
/**
 * The clean-up steps of a fixture, run in reverse order. Every step runs, even after another has failed, so that no
 * process, server or folder is left behind.
 */
export class Cleanups {
    #steps = [];
    add(step) {
        this.#steps.push(step);
    }
    /** @throws the error of the step that failed, or an AggregateError when several did; always after the last step. */
    async run() {
        const errors = [];
        for (const step of this.#steps.splice(0).reverse()) {
            await step().catch((error) => errors.push(error));
        }
        if (errors.length === 1)
            throw errors[0];
        if (errors.length > 1) {
            throw new AggregateError(errors, `Several clean-up steps failed: ${errors.map(String).join("; ")}`);
        }
    }
}
/**
 * A temporary folder, and what a world is made of: a node, a database, proxies, receivers and services. Each part stops with
 * the scene, the last one first, even when others fail to stop.
 */
export class Scene {
    folder;
    #cleanups = new Cleanups();
    /** Whether the folder stays, with the database and the logs. */
    keepsFolder = false;
    constructor(folder) {
        this.folder = folder;
        this.#cleanups.add(async () => {
            if (!this.keepsFolder)
                await rm(folder, { recursive: true, force: true });
        });
    }
    /**
     * @param name a part of the folder's name.
     * @param build makes a world of parts. When that fails, those that exist already stop.
     */
    static async open(name, build) {
        const scene = new Scene(await mkdtemp(join(tmpdir(), `moneta-${name}-`)));
        try {
            return await build(scene);
        }
        catch (error) {
            await scene.close();
            throw error;
        }
    }
    /** Stops the part with the scene. */
    async add(starting) {
        const part = await starting;
        this.#cleanups.add(() => ("stop" in part ? part.stop() : part.close()));
        return part;
    }
    async close() {
        await this.#cleanups.run();
    }
}
/** Where a SQLite database is in a folder. */
export function sqliteUrl(folder) {
    return `file:${join(folder, "moneta.sqlite")}`;
}
/** Adds an app to a database, as the command line does, with these quotas. A service may use the database at the same time. */
export function createAppIn(databaseUrl, name, quotas = {}) {
    return withDatabase(databaseUrl, (database) => createApp({ database }, name, quotas));
}
/** Opens a database for some work. */
export async function withDatabase(databaseUrl, work) {
    const database = await openDatabase(databaseUrl);
    try {
        return await work(database);
    }
    finally {
        await database.close();
    }
}
