import { environment } from "./config/environment.ts";
import { cacheCode } from "./shared/code-cache.ts";

/** `npm run api`: runs the service against the chain at RPC_URL until SIGINT or SIGTERM. */
const env = environment();
cacheCode(env);
const { loadThread } = await import("./context/loading-thread.ts");
const entry = new URL("./pipeline-main.ts", import.meta.url);
// Without ROLES this process has all roles, and so a second thread: no need to read the settings first.
const early = (env["ROLES"] ?? "") === "" ? loadThread(entry) : null;
const { run } = await import("./context/run.ts");
await run(env, () => early ?? loadThread(entry));
