import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import { LOCAL_CHAIN_ID, prepareLocally, withLocalOwner } from "../chain/local-contracts.ts";
import type { Settings } from "../config/settings.ts";
import type { Keyring } from "../keys/keyring.ts";
import { weakPassphrase } from "../keys/seed-file.ts";
import type { Database } from "../store/db/database.ts";
import { allLanes } from "../store/sending/lanes.ts";
import { type ChainIdentity, establishIdentity } from "./chain-identity.ts";
import { checkLanes, checkSeed } from "./chain-state-check.ts";
import { type Keys, loadKeys, needed } from "./keys.ts";
import { hostedBaseOf } from "./workplace.ts";

export interface Chain {
  identity: ChainIdentity;
  keys: Keys;
  local: boolean;
  /** What the relayer signs with; null without that role. */
  signing: { keyring: Keyring; lanes: number[] } | null;
}

/** Checks that chain, database and keys belong together. On a local chain it also funds the lanes. @throws StartupError */
export async function connectChain(
  settings: Settings,
  database: Database,
  client: ChainClient,
  logger: Logger,
): Promise<Chain> {
  const hostedBase = hostedBaseOf(settings);
  const identity = await establishIdentity(database, client, { ...settings, hostedBase });
  const local = identity.chainId === LOCAL_CHAIN_ID;
  const keys = await loadKeys(settings, local);
  await checkSeed(database, keys);
  if (keys.passphraseWeakness !== null && !local) logger.warn(weakPassphrase(keys.passphraseWeakness));
  const signing = settings.roles.includes("relayer")
    ? { keyring: needed(keys.keyring), lanes: await lanesToDrive(database, settings.lanes) }
    : null;
  if (signing !== null) await checkLanes(database, client, signing.keyring, signing.lanes);
  if (local) {
    const addresses = keys.keyring === null ? [] : laneAddresses(keys.keyring, settings.lanes);
    await withLocalOwner(settings.rpcUrl, (owner) =>
      prepareLocally(owner, identity.contracts, { lanes: addresses, hostedBase }),
    );
  }
  return { identity, keys, local, signing };
}

/** The lanes of the settings, and those of earlier settings: they must finish what they began. */
async function lanesToDrive(database: Database, wanted: readonly number[]): Promise<number[]> {
  const dropped = (await allLanes(database.read)).map((row) => row.lane).filter((lane) => !wanted.includes(lane));
  return [...wanted, ...dropped];
}

function laneAddresses(keyring: Keyring, lanes: readonly number[]): string[] {
  return lanes.map((lane) => keyring.lane(lane).address);
}
