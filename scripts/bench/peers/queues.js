const QUEUE = "mint";
const CONNECTIONS = 10;
const BOSS_WORKERS = 5;
/** Each job has its row. `runOnce` resolves when no job is left. */
export async function graphileWorker(packages, connectionString, concurrency) {
    const worker = await packages.load("graphile-worker");
    const options = {
        connectionString,
        maxPoolSize: CONNECTIONS,
        logger: new worker.Logger(() => () => undefined),
    };
    await worker.runMigrations(options);
    return async (mints, mintOnce) => {
        const utils = await worker.makeWorkerUtils(options);
        const started = performance.now();
        const jobs = Array.from({ length: mints }, () => ({ identifier: QUEUE, payload: {} }));
        await utils.addJobs(jobs);
        await worker.runOnce({ ...options, concurrency, taskList: { [QUEUE]: () => mintOnce() } });
        const seconds = (performance.now() - started) / 1_000;
        await utils.release();
        return mints / seconds;
    };
}
/**
 * Each of five workers fetches as many jobs as make up the concurrency together, and the next ones at once
 * (`burstWhenBatchFull`, which needs more than one job). A worker that fetches one job polls every half second at best.
 */
export async function pgBoss(packages, connectionString, concurrency) {
    const { PgBoss } = await packages.load("pg-boss");
    return async (mints, mintOnce) => {
        const boss = new PgBoss({ connectionString, max: CONNECTIONS });
        const failed = Promise.withResolvers();
        boss.on("error", failed.reject);
        await boss.start();
        await boss.createQueue(QUEUE);
        const done = Promise.withResolvers();
        let left = mints;
        const started = performance.now();
        await boss.insert(QUEUE, Array.from({ length: mints }, () => ({ data: {} })));
        const options = {
            batchSize: concurrency / BOSS_WORKERS,
            localConcurrency: BOSS_WORKERS,
            burstWhenBatchFull: true,
            pollingIntervalSeconds: 0.5,
        };
        await boss.work(QUEUE, options, async (jobs) => {
            try {
                await Promise.all(jobs.map(mintOnce));
            }
            catch (error) {
                failed.reject(error);
            }
            left -= jobs.length;
            if (left === 0)
                done.resolve(undefined);
        });
        await Promise.race([done.promise, failed.promise]);
        const seconds = (performance.now() - started) / 1_000;
        await boss.stop({ graceful: true });
        return mints / seconds;
    };
}
