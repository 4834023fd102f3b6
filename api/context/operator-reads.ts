import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import type { Settings } from "../config/settings.ts";
import type { DoctorContext } from "../operate/doctor/check.ts";
import type { BlockStore } from "../content/block-store.ts";
import { Overview } from "../metrics/overview.ts";
import { Source } from "../metrics/source.ts";
import { GWEI } from "../domain/wei.ts";
import { leaseTimes } from "../shared/lease.ts";
import type { Database } from "../store/db/database.ts";
import { readMeta } from "../store/db/meta.ts";
import type { OperatorReads } from "../v1/operator-reads.ts";
import type { ChainIdentity } from "./chain-identity.ts";
import type { Keys } from "./keys.ts";
import { hostedBaseOf } from "./chain-identity.ts";

/**
 * A result is reused for `fresh` milliseconds, or for ten times as long as the checks took if that is more. So the checks never
 * take more than a tenth of the process's time, however often a browser asks. A call waits `timeout` milliseconds for a result.
 */
const DOCTOR = { fresh: 15_000, restFactor: 10, timeout: 20_000 };

interface Parts {
  database: Database;
  client: ChainClient;
  identity: ChainIdentity;
  keys: Keys;
  blocks: BlockStore;
  logger: Logger;
  now: () => number;
}

/** What the console shows the operator about the whole service. */
export function createOperatorReads(settings: Settings, parts: Parts): OperatorReads {
  const { database, client, identity, logger, now } = parts;
  const overview = new Overview({
    database,
    client,
    relay: identity.contracts.relay,
    lanes: settings.lanes,
    maxFeePerGas: BigInt(settings.maxFeeGwei) * GWEI,
    presence: leaseTimes(settings.leaseSeconds).lasts,
    logger,
    now,
  });
  const doctor = new Source("doctor", () => runDoctor(settings, parts), {
    ...DOCTOR,
    logger,
    failed: "the doctor's checks ended with an error",
  });
  return { overview: () => overview.read(), reasons: () => overview.reasons(), doctor: () => doctor.value() };
}

/** As `npm run cli -- doctor`, with the keys of this process. */
async function runDoctor(settings: Settings, { database, client, identity, keys, blocks, now }: Parts) {
  // Loaded when the operator first looks.
  const { CHECKS, examine } = await import("../operate/doctor/examine.ts");
  const { diskCheck, filesCheck, storeCheck } = await import("../operate/media-checks.ts");
  const checkedAt = now();
  const { dataDir, lanes, maxFeeGwei, ipfsPinRpc: pinRpc, verifyCollections, verifyReceipts } = settings;
  const context: DoctorContext = {
    database,
    client,
    chain: {
      chainId: identity.chainId.toString(),
      genesis: (await readMeta(database.read, "genesis")) ?? "",
      contracts: identity.contracts,
    },
    keys: {
      ...keys,
      seedProblem: keys.keyring === null ? "This process does not have the seed." : null,
      sealerProblem: keys.sealer === null ? "This process does not have SECRET_KEYS." : null,
    },
    hostedBase: hostedBaseOf(settings),
    lanes,
    maxFeeGwei,
    pinRpc,
    verifyCollections,
    verifyReceipts,
    thorough: false,
    now: checkedAt,
  };
  const found = await examine(context, [...CHECKS, diskCheck(dataDir), storeCheck(blocks), filesCheck(blocks)]);
  return { ...found, checkedAt };
}
