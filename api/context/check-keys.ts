import { createHash } from "node:crypto";

import { XPUB_IS_PRIVATE } from "../config/parsers.ts";
import type { Settings } from "../config/settings.ts";
import { databaseOfNoLane, unknownTransaction } from "../domain/conditions.ts";
import { fingerprintOfImportKey } from "../keys/imported-keys.ts";
import type { Keyring } from "../keys/keyring.ts";
import { weakPassphrase } from "../keys/seed-file.ts";
import type { Database } from "../store/db/database.ts";
import { readMeta, writeMeta, writeMetaOnce } from "../store/db/meta.ts";
import { hasRequests } from "../store/requests/requests.ts";
import { allLanes, readLane, reusedNonces } from "../store/sending/lanes.ts";
import type { Chain } from "./chain-identity.ts";
import type { Context } from "./context.ts";
import { type Keys, loadKeys, needed } from "./keys.ts";
import { StartupError } from "./startup-error.ts";

type Connected = Pick<Context, "database" | "client" | "logger">;

/**
 * Loads the keys of this process's roles, and checks that they belong to the database and that it knows all that the lanes have sent.
 * @returns them, and the lanes that the process drives.
 * @throws StartupError, SeedFileError
 */
export async function loadCheckedKeys(
  settings: Settings,
  { local }: Chain,
  connections: Connected,
): Promise<{ keys: Keys; lanes: number[] }> {
  const { database, logger } = connections;
  const keys = await loadKeys(settings, local);
  await checkSeed(database, keys);
  if (keys.passphraseWeakness !== null && !local) logger.warn(weakPassphrase(keys.passphraseWeakness));
  if (!settings.roles.includes("relayer")) return { keys, lanes: [] };
  const lanes = await lanesToDrive(database, settings.lanes);
  await checkLanes(connections, { keyring: needed(keys.keyring), lanes }, local);
  return { keys, lanes };
}

/** The lanes of the settings, and those of earlier settings: they must finish what they began. */
async function lanesToDrive(database: Database, wanted: readonly number[]): Promise<number[]> {
  const dropped = (await allLanes(database.read)).map((row) => row.lane).filter((lane) => !wanted.includes(lane));
  return [...wanted, ...dropped];
}

/**
 * Checks that the wallets of the database come from this process's seed or extended public key. A process that has
 * neither can create no wallet and sign nothing.
 * @throws StartupError
 */
async function checkSeed(database: Database, { keyring, walletsPublicKey }: Keys): Promise<void> {
  if (walletsPublicKey === null) return;
  const fingerprint = createHash("sha256").update(walletsPublicKey).digest("hex");
  const known =
    (await readMeta(database.read, "wallets_key")) ??
    (await database.write((trx) => writeMetaOnce(trx, "wallets_key", fingerprint)));
  if (known === fingerprint) {
    const importKey = keyring === null ? null : fingerprintOfImportKey(keyring.importKey);
    if (importKey !== null && (await readMeta(database.read, "import_key")) !== importKey)
      await database.write((trx) => writeMeta(trx, "import_key", importKey));
    return;
  }
  throw new StartupError(
    keyring === null
      ? `XPUB is the key of another seed than the one that this database's wallets come from. Set XPUB to what \`npm run cli -- keys check\` prints where that seed is. Nothing was changed. ${XPUB_IS_PRIVATE}`
      : "SEED_FILE holds another seed than the one that this database's wallets come from. It opens no imported keys, either. Set SEED_FILE to the right file. Nothing was changed.",
  );
}

async function isUnknownFinal({ read }: Database): Promise<boolean> {
  const block = await readMeta(read, "unknown_transaction_block");
  return block === null || Number(block) <= Number(await readMeta(read, "confirmed_block"));
}

/**
 * Checks that the database knows every transaction of the lanes. If not, the database is an old backup, or another service
 * uses the same key. Sending would then carry out requests a second time.
 * @throws StartupError
 */
async function checkLanes(
  { database, client, logger }: Connected,
  { keyring, lanes }: { keyring: Keyring; lanes: number[] },
  local: boolean,
): Promise<void> {
  const unknown = await readMeta(database.read, "unknown_transaction");
  // Until its block is final, a roll-back may remove the mark. Until then no lane sends.
  if (unknown !== null && (await isUnknownFinal(database))) throw new StartupError(unknownTransaction(unknown));
  const reused = await reusedNonces(database.read);
  const hasSent = (await allLanes(database.read)).length > 0;
  for (const index of lanes) {
    const { address } = keyring.lane(index);
    // The chain is read before the database: a transaction that another process sends in between is then in both.
    const [mined = 0] = await client.highestNonces([address]);
    const [withPool = 0] = await client.highestNonces([address], "pending");
    const row = await readLane(database.read, index);
    if (row !== undefined && row.address !== address) {
      throw new StartupError(
        `Lane ${index.toString()} has the address ${row.address}, but SEED_FILE gives ${address}. Set SEED_FILE to the right file.`,
      );
    }
    const known = row?.next_nonce ?? reused.get(address) ?? 0;
    if (!hasSent && Math.max(mined, withPool) > known) {
      const words = databaseOfNoLane(address, Math.max(mined, withPool));
      // The nodes of a local chain are often used again. Without requests, nothing can run twice.
      if (!local || (await hasRequests(database.read))) throw new StartupError(words);
      logger.warn(words);
      continue;
    }
    if (mined > known) {
      throw new StartupError(
        `Lane ${address} has ${mined.toString()} transactions on chain, but the database knows of ${known.toString()}: ` +
          `it is an old backup, or another service uses the same seed. Restore the newest database. Or make sure that no ` +
          `other service runs and make this database safe with \`npm run cli -- reconcile\`. Nothing was sent.`,
      );
    }
    if (withPool > known) {
      throw new StartupError(
        `Transactions of lane ${address} that the database does not know wait in the node's pool: it is an old backup, or ` +
          `another service uses the same seed. Restore the newest database. Or make sure that no other service runs, wait ` +
          `until the transactions are mined, and run \`npm run cli -- reconcile\`. Nothing was sent.`,
      );
    }
  }
}
