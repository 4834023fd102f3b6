import { environment } from "./config/environment.ts";
import { cacheCode } from "./shared/code-cache.ts";

/** `npm run api`: runs the service against the chain at RPC_URL until SIGINT or SIGTERM. */
const env = environment();
cacheCode(env);
const { loadThread } = await import("./context/loading-thread.ts");
// Without ROLES this process has all roles, and so a second thread: no need to read the settings first.
const early = (env["ROLES"] ?? "") === "" ? loadThread(null) : null;
const { run } = await import("./context/run.ts");
await run(env, early);
