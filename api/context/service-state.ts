import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import type { NodesState } from "../chain/nodes.ts";
import type { Examination } from "../checks/examine.ts";
import { Source } from "../checks/source.ts";
import { ServiceState } from "../checks/state.ts";
import type { Settings } from "../config/settings.ts";
import type { BlockStore } from "../content/block-store.ts";
import { GWEI } from "../domain/wei.ts";
import { leaseTimes } from "../shared/lease.ts";
import type { Database } from "../store/db/database.ts";
import { readMeta } from "../store/db/meta.ts";
import { type ChainIdentity, hostedBaseOf } from "./chain-identity.ts";
import type { Keys } from "./keys.ts";

interface Parts {
  database: Database;
  client: ChainClient;
  nodes: () => Promise<NodesState>;
  identity: ChainIdentity;
  logger: Logger;
  now: () => number;
}

/** What `/metrics` and the operator's pages show about the whole service. */
export function createServiceState(settings: Settings, { identity, client, ...parts }: Parts): ServiceState {
  return new ServiceState({
    ...parts,
    client,
    relay: identity.contracts.relay,
    lanes: settings.lanes,
    maxFeePerGas: BigInt(settings.maxFeeGwei) * GWEI,
    dataDir: settings.dataDir,
    presence: leaseTimes(settings.leaseSeconds).lasts,
  });
}

/**
 * A result is reused for `fresh` milliseconds, or for ten times as long as the checks took if that is more. So the checks never
 * take more than a tenth of the process's time, however often a browser asks. A call waits `timeout` milliseconds for a result.
 */
const DOCTOR = { fresh: 15_000, restFactor: 10, timeout: 20_000 };

/** The checks of `npm run cli -- doctor`, with the keys of this process. */
export function createDoctor(
  settings: Settings,
  { database, client, identity, keys, blocks, logger, now }: Omit<Parts, "nodes"> & { keys: Keys; blocks: BlockStore },
): Source<Examination & { checkedAt: number }> {
  const { dataDir, ipfsPinRpc: pinRpc } = settings;
  const examineAll = async () => {
    // Loaded when the operator first looks.
    const { CHECKS, examine } = await import("../checks/examine.ts");
    const { diskCheck, filesCheck, storeCheck } = await import("../operate/media-checks.ts");
    const checkedAt = now();
    const chain = {
      chainId: identity.chainId.toString(),
      genesis: (await readMeta(database.read, "genesis")) ?? "",
      contracts: identity.contracts,
    };
    const seedProblem = keys.keyring === null ? "This process does not have the seed." : null;
    const sealerProblem = keys.sealer === null ? "This process does not have SECRET_KEYS." : null;
    const found = await examine(
      {
        ...settings,
        ...{ database, client, chain, pinRpc, thorough: false, now: checkedAt },
        keys: { ...keys, seedProblem, sealerProblem },
        hostedBase: hostedBaseOf(settings),
      },
      [...CHECKS, diskCheck(dataDir), storeCheck(blocks), filesCheck(blocks)],
    );
    return { ...found, checkedAt };
  };
  return new Source("doctor", examineAll, { ...DOCTOR, logger });
}
