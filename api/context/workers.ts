import type { Role } from "../config/variables.ts";
import type { Context } from "./context.ts";

/** The code of this process's roles; null for a role that it does not have. */
export type RoleCode = Awaited<ReturnType<typeof loadRoles>>;

/**
 * Loads the code of the roles. Most of a start, and half of the memory of an idle process, is loaded modules: so a process
 * loads only what its roles need.
 */
export async function loadRoles(roles: readonly Role[]) {
  const load = async <T>(role: Role, code: () => Promise<T>) => (roles.includes(role) ? code() : null);
  return {
    api: await load("api", () => import("./roles/api.ts")),
    relayer: await load("relayer", () => import("./roles/relayer.ts")),
    indexer: await load("indexer", () => import("./roles/indexer.ts")),
    webhooks: await load("webhooks", () => import("./roles/webhooks.ts")),
    media: await load("media", () => import("./roles/media.ts")),
    ipfs: await load("ipfs", () => import("./roles/media.ts")),
  };
}

/** A background worker: it runs until it is stopped. */
interface Worker {
  run(abort: AbortSignal): Promise<void>;
  /** Why it cannot work now; null when it can. */
  readonly lastError: string | null;
}

export interface NamedWorker {
  name: string;
  worker: Worker;
  /** Whether `readyz` reports it. A failing Kubo node, failing IPFS peers or failing contracts of others are only logged. */
  critical: boolean;
}

/** The background workers of this process's roles. None runs yet. @param opened ends what they share. */
export async function createWorkers(
  context: Context,
  code: RoleCode,
  opened: AsyncDisposableStack,
): Promise<NamedWorker[]> {
  return [
    ...((await code.relayer?.relayerWorkers(context, opened)) ?? []),
    ...(code.indexer?.indexerWorkers(context) ?? []),
    ...(code.webhooks?.webhookWorkers(context) ?? []),
    ...(code.media?.mediaWorkers(context) ?? []),
    ...(code.ipfs?.ipfsWorkers(context) ?? []),
  ];
}
