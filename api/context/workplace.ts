import { z } from "zod";

import type { ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { LOCAL_CHAIN_ID } from "../chain/local-contracts.ts";
import { OperatorError } from "../operate/operator-error.ts";
import type { Settings } from "../config/settings.ts";
import type { FoundKeys } from "../keys/seed-file.ts";
import { type Database, openExistingDatabase } from "../store/db/database.ts";
import { databaseName } from "../store/db/errors.ts";
import { readMeta } from "../store/db/meta.ts";
import { addDeployedFactories, contractsOf, hostedBaseOf } from "./chain-identity.ts";
import { COMMAND_WAIT, openChain } from "./chain-link.ts";
import { findKeys } from "./keys.ts";

/** What an operator command works with. The service may run at the same time; nothing is started here. */
export interface Workplace {
  database: Database;
  client: ChainClient;
  chain: { chainId: string; genesis: string; contracts: ContractAddresses };
  keys: FoundKeys;
  hostedBase: string;
  settings: Settings;
}

/** @throws OperatorError when the service was never started with the database. */
export async function withWorkplace<T>(settings: Settings, work: (place: Workplace) => Promise<T>): Promise<T> {
  await using opened = new AsyncDisposableStack();
  const database = await openExistingDatabase(settings.databaseUrl);
  opened.defer(() => database.close());
  const chainId = await readMeta(database.read, "chain_id");
  if (chainId === null) {
    throw new OperatorError(
      `The database ${databaseName(settings.databaseUrl)} is new: the service was never started with it. Set DATABASE_URL or DATA_DIR ` +
        `to the service's, or start the service once.`,
    );
  }
  const known = await contractsOf(database.read);
  const contracts = await addDeployedFactories(known, settings.deploymentsDir, BigInt(chainId));
  const genesis = z.string().parse(await readMeta(database.read, "genesis"));
  const client = openChain(settings, { database, maxWait: COMMAND_WAIT }, opened);
  // A command that looks for problems must run even when no node works.
  if (client.nodes.count > 1) {
    client.nodes.guardBy({ chainId: BigInt(chainId), genesis });
    await client.nodes.chains();
  }
  return await work({
    database,
    client,
    chain: { chainId, genesis, contracts },
    keys: await findKeys(settings, chainId === LOCAL_CHAIN_ID.toString()),
    hostedBase: hostedBaseOf(settings),
    settings,
  });
}
