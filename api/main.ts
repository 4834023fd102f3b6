import { environment } from "./config/environment.ts";
import { cacheCode } from "./shared/code-cache.ts";

/** `npm run api`: runs the service against the chain at RPC_URL until SIGINT or SIGTERM. */
const env = environment();
cacheCode(env);
const { run } = await import("./context/run.ts");
await run(env);
