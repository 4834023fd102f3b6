import { FolderError } from "../../api/shared/folder.ts";
import { lockFolder, nextFreeFolder } from "./data-folder.ts";
import { commandLine, DEFAULTS, USUAL_METRICS_PORT } from "./options.ts";
import { checkPort, nextFreePort } from "./ports.ts";
import { Problem } from "./problem.ts";
/**
 * Checks the ports and locks the folder. All are checked before anything starts, so that one error can name everything
 * that is taken, and a command line that works.
 * @returns the options with the ports that were found, and a function that unlocks the folder.
 * @throws Problem
 */
export async function reserve(wanted) {
    const [api, rpc] = [await checkPort(wanted.port), await checkPort(wanted.rpcPort)];
    const metrics = wanted.metricsPort === null ? null : await checkPort(wanted.metricsPort);
    const folder = tryFolder(wanted.dataDir);
    const problems = [
        ...(api.problem === null ? [] : [`PORT: port ${api.port} ${api.problem}.`]),
        ...(rpc.problem === null ? [] : [`RPC_PORT: port ${rpc.port} ${rpc.problem}.`]),
        ...(metrics?.problem == null ? [] : [`METRICS_PORT: port ${metrics.port} ${metrics.problem}.`]),
        ...(folder.problem === null ? [] : [folder.problem]),
    ];
    const collide = wanted.port !== 0 && wanted.port === wanted.rpcPort;
    if (collide)
        problems.push(`PORT and RPC_PORT are both ${wanted.port}.`);
    const collidesWithMetrics = (port) => port !== 0 && port === wanted.metricsPort;
    if (collidesWithMetrics(wanted.port))
        problems.push(`PORT and METRICS_PORT are both ${wanted.port}.`);
    if (collidesWithMetrics(wanted.rpcPort))
        problems.push(`RPC_PORT and METRICS_PORT are both ${wanted.rpcPort}.`);
    if (problems.length === 0 && folder.unlock !== null) {
        const taken = [api.port, rpc.port];
        const metricsPort = metrics?.port ?? (await freeMetricsPort(taken));
        return { options: { ...wanted, port: api.port, rpcPort: rpc.port, metricsPort }, unlock: folder.unlock };
    }
    folder.unlock?.();
    const port = api.problem === null ? wanted.port : await nextFreePort(wanted.port, wanted.rpcPort);
    const rpcPort = rpc.problem === null && !collide ? wanted.rpcPort : await nextFreePort(wanted.rpcPort, port);
    // Without the variable, a free port is found.
    const metricsPort = metrics?.problem === null && ![port, rpcPort].includes(metrics.port) ? wanted.metricsPort : null;
    const command = commandLine({ ...wanted, port, rpcPort, metricsPort, dataDir: folder.instead ?? wanted.dataDir });
    throw new Problem([
        "npm start cannot use what it needs:",
        ...problems.map((problem) => `- ${problem}`),
        "",
        "This command line works:",
        `  ${command}`,
    ].join("\n"));
}
/** The usual port, or the next free one. @param taken ports that are promised to somebody else. */
async function freeMetricsPort(taken) {
    let port = USUAL_METRICS_PORT - 1;
    do
        port = await nextFreePort(port, null);
    while (taken.includes(port));
    return port;
}
function tryFolder(dataDir) {
    try {
        const unlock = lockFolder(dataDir);
        if (unlock !== null)
            return { unlock, problem: null, instead: null };
        return {
            unlock: null,
            problem: `DATA_DIR: another npm start uses the folder ${dataDir}.`,
            instead: nextFreeFolder(dataDir),
        };
    }
    catch (error) {
        if (!(error instanceof FolderError))
            throw error;
        const usual = DEFAULTS.DATA_DIR;
        return { unlock: null, problem: error.message, instead: dataDir === usual ? null : freeOf(usual) };
    }
}
function freeOf(dataDir) {
    const unlock = lockFolder(dataDir);
    if (unlock === null)
        return nextFreeFolder(dataDir);
    unlock();
    return dataDir;
}
