import { Cleanups } from "./scene.ts";
/*
 * What the tests of a process share (a node, a service, a database server, a browser) starts at its first use and ends with the
 * run. A hook at the level of a support file cannot end it: where several test files run one after the other in one process,
 * such a hook belongs to the first of them only.
 */
const shared = new Cleanups();
/** Registers a clean-up of what this process shares. It may be registered again after `endRun`, by a new first use. */
export function atEndOfRun(step) {
    shared.add(step);
}
/** Runs the clean-ups, the newest first: a service stops before its node does. @throws after the last one. */
export async function endRun() {
    await shared.run();
}
/** For `npx mocha FILE`. A worker of `npm test`, which sets the variable, runs many files and calls `endRun` itself. */
export const mochaHooks = {
    async afterAll() {
        if (process.env["MONETA_TEST_WORKER"] === undefined)
            await endRun();
    },
};
