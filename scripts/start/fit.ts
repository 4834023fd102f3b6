import { ChainClient } from "../../api/chain/client.ts";
import { storedAddresses } from "../../api/chain/contracts.ts";
import { contractsWithoutCode } from "../../api/chain/reads.ts";
import { defaultDatabase } from "../../api/config/settings.ts";
import { openExistingDatabase } from "../../api/store/db/database.ts";
import { checkpointOf, readContracts, readMeta } from "../../api/store/db/meta.ts";
import type { Db } from "../../api/store/db/sql.ts";
import { storedBlock } from "../../api/store/ledger/blocks.ts";
import { allLanes } from "../../api/store/sending/lanes.ts";

/**
 * Whether the service can go on with this database on this chain, so that nothing is lost and nothing happens twice. The chain
 * may have blocks that the database does not know yet: the indexer reads them. It may lack transactions that the database
 * has sent, and whose blocks it has not processed: the relayer sends them again.
 */
export async function databaseFits(dataDir: string, rpcUrl: string): Promise<boolean> {
  const database = await openExistingDatabase(defaultDatabase(dataDir));
  try {
    const client = new ChainClient(rpcUrl);
    return (await hasProcessedBlocks(database.read, client)) && (await knowsTransactions(database.read, client));
  } finally {
    await database.close();
  }
}

/** Whether the chain has the contracts, and all blocks that the database has processed. */
async function hasProcessedBlocks(db: Db, client: ChainClient): Promise<boolean> {
  const [genesis, contracts] = [await readMeta(db, "genesis"), await readContracts(db, storedAddresses)];
  // A start that was interrupted before it deployed the contracts.
  if (genesis === null || contracts === null) return false;
  const checkpoint = await checkpointOf(db);
  const [first, processed] = await client.blocks([0, checkpoint]);
  if (first?.hash !== genesis || processed == null) return false;
  const stored = await storedBlock(db, checkpoint);
  if (stored !== undefined && stored.hash !== processed.hash) return false;
  return (await contractsWithoutCode(client, contracts)).length === 0;
}

/** Whether the database knows all transactions of its lanes. After a power cut it may lack its last writes. */
async function knowsTransactions(db: Db, client: ChainClient): Promise<boolean> {
  const lanes = await allLanes(db);
  const nonces = await client.nonces(lanes.map(({ address }) => address));
  return lanes.every(({ next_nonce: next }, index) => (nonces[index] ?? 0) <= next);
}
