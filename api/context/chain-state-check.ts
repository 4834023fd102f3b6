import { createHash } from "node:crypto";

import type { ChainClient } from "../chain/client.ts";
import type { Keyring } from "../keys/keyring.ts";
import type { Database } from "../store/db/database.ts";
import { readLane } from "../store/sending/lanes.ts";
import { readMeta, writeMeta } from "../store/db/meta.ts";
import { hasRequests } from "../store/requests/requests.ts";
import { StartupError } from "./chain-identity.ts";

/** The seed must be the one that made the database's wallets. @throws StartupError */
export async function checkSeed(database: Database, keyring: Keyring): Promise<void> {
  const fingerprint = createHash("sha256").update(keyring.walletsPublicKey).digest("hex");
  const known = await readMeta(database.read, "wallets_key");
  if (known === null) {
    await database.write((trx) => writeMeta(trx, "wallets_key", fingerprint));
    return;
  }
  if (known !== fingerprint) {
    throw new StartupError(
      "SEED_FILE holds another seed than the one that made this database's wallets. Set SEED_FILE to the right file; nothing was changed.",
    );
  }
}

/**
 * A lane that has sent more than the database knows of: the database is older than the chain (a restored backup), or
 * somebody else uses the key. Sending on could do a request twice.
 * @throws StartupError
 */
export async function checkLanes(
  database: Database,
  client: ChainClient,
  keyring: Keyring,
  lanes: number[],
): Promise<void> {
  for (const index of lanes) {
    const { address } = keyring.lane(index);
    // The chain first: what a process that runs beside this one sends meanwhile, the database knows by then.
    const [[mined = 0], [withPool = 0]] = [await client.nonces([address]), await client.nonces([address], "pending")];
    const row = await readLane(database.read, index);
    // A database without requests has nothing that could be done a second time: there the lane begins where the chain is.
    if (row === undefined && !(await hasRequests(database.read))) continue;
    if (row !== undefined && row.address !== address) {
      throw new StartupError(`Lane ${index.toString()} was ${row.address}; the seed in SEED_FILE makes ${address}.`);
    }
    const known = row?.next_nonce ?? 0;
    if (mined > known) {
      throw new StartupError(
        `Lane ${address} has ${mined.toString()} transactions on chain, but the database knows of ${known.toString()}: ` +
          `it is an old backup, or another service uses the same seed. Restore the newest database; or make sure that no ` +
          `other service runs and make this one safe with \`npm run cli -- reconcile\`. Nothing was sent.`,
      );
    }
    if (withPool > known) {
      throw new StartupError(
        `Transactions of lane ${address} that the database does not know wait in the node's pool: it is an old backup, or ` +
          `another service uses the same seed. Make sure that none does, wait until they are in blocks, and run ` +
          `\`npm run cli -- reconcile\`; or restore the newest database. Nothing was sent.`,
      );
    }
  }
}
