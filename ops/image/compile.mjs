// Loads the code of the service once, so that Node keeps it compiled: a start then compiles nothing. The image's build runs it
// as the service's user, because Node keeps a folder for each user.
import { cacheCode } from "../../api/shared/code-cache.ts";

cacheCode(process.env);
await import("../../api/context/run.ts");
await import("../../api/context/service.ts");
const { loadRoles } = await import("../../api/context/workers.ts");
await loadRoles(["api", "relayer", "indexer", "webhooks", "media", "ipfs"]);
