import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";

import { z } from "zod";

import type { ChainClient } from "../chain/client.ts";
import { type ContractAddresses, deploymentFile, factoryAt, storedAddresses } from "../chain/contracts.ts";
import { deployLocally, LOCAL_CHAIN_ID, withLocalOwner } from "../chain/local-contracts.ts";
import { type StrangeContract, strangeContracts } from "../chain/deployed-code.ts";
import { contractsWithoutCode, readDeploymentLinks } from "../chain/reads.ts";
import type { Settings } from "../config/settings.ts";
import { parseJson } from "../shared/text.ts";
import type { Database } from "../store/db/database.ts";
import { databaseName } from "../store/db/errors.ts";
import { readContracts, readMeta, writeContracts, writeMeta } from "../store/db/meta.ts";
import { lockLedger } from "../store/db/sql.ts";
import { StartupError } from "./startup-error.ts";

export interface ChainIdentity {
  chainId: bigint;
  contracts: ContractAddresses;
}

/** The chain that the database belongs to. */
export interface Chain {
  identity: ChainIdentity;
  /** Whether it is a local one. */
  local: boolean;
}

/** The base URI of hosted metadata, as the contracts know it. */
export function hostedBaseOf(settings: Pick<Settings, "publicUrl">): string {
  return `${settings.publicUrl}/metadata/`;
}

type IdentitySettings = Pick<
  Settings,
  "rpcUrl" | "databaseUrl" | "deploymentsDir" | "publicUrl" | "allowedContractCode"
>;

/**
 * Finds out which chain the database belongs to, and the service's contracts there. A new database is bound to the chain
 * of the node. After that it accepts no other chain.
 * @throws StartupError
 */
export async function establishIdentity(
  database: Database,
  client: ChainClient,
  settings: IdentitySettings,
): Promise<ChainIdentity> {
  const chainId = await client.chainId();
  const [genesis] = await client.blocks([0]);
  if (genesis == null)
    throw new StartupError(
      `The node at ${client.nodes.where} does not return block 0, which identifies the chain. Use a node that has it.`,
    );
  const known = await readMeta(database.read, "chain_id");
  if (known !== null) {
    return recogniseChain(database, client, settings, { chainId, genesis: genesis.hash, known });
  }
  const contracts =
    chainId === LOCAL_CHAIN_ID
      ? await localContracts(client, settings)
      : await readDeployment(settings.deploymentsDir, chainId);
  await requireCode(client, contracts, chainId);
  await requireOwnCode(client, contracts, settings);
  const first = await database.write(async (trx) => {
    await lockLedger(trx);
    if ((await readMeta(trx, "chain_id")) !== null) return false;
    await writeMeta(trx, "chain_id", chainId.toString());
    await writeMeta(trx, "genesis", genesis.hash);
    await writeContracts(trx, contracts);
    await writeMeta(trx, "checkpoint", (contracts.deployedAt - 1).toString());
    await writeMeta(trx, "confirmed_block", (contracts.deployedAt - 1).toString());
    return true;
  });
  // Another process started at the same moment and bound the database first: use what it stored.
  if (!first) return establishIdentity(database, client, settings);
  return { chainId, contracts };
}

/** On a local chain: the contracts of `npm run deploy` if they are on this chain, otherwise newly deployed ones. */
async function localContracts(client: ChainClient, settings: IdentitySettings): Promise<ContractAddresses> {
  if (existsSync(deploymentFile(settings.deploymentsDir, LOCAL_CHAIN_ID))) {
    const deployed = await readDeployment(settings.deploymentsDir, LOCAL_CHAIN_ID);
    // The file may be left over from an earlier local node.
    if ((await contractsWithoutCode(client, deployed)).length === 0) return deployed;
  }
  return withLocalOwner(settings.rpcUrl, (owner) => deployLocally(owner, hostedBaseOf(settings)));
}

async function recogniseChain(
  database: Database,
  client: ChainClient,
  settings: IdentitySettings,
  met: { chainId: bigint; genesis: string; known: string },
): Promise<ChainIdentity> {
  const advice =
    `Set RPC_URL to a node of the database's chain, or use a new database (another DATA_DIR or DATABASE_URL) ` +
    `for this chain. Nothing was changed.`;
  const where = `The database ${databaseName(settings.databaseUrl)}`;
  if (met.known !== met.chainId.toString()) {
    throw new StartupError(
      `${where} belongs to chain ${met.known}, but the node at RPC_URL serves chain ${met.chainId.toString()}. ${advice}`,
    );
  }
  if ((await readMeta(database.read, "genesis")) !== met.genesis) {
    throw new StartupError(
      `${where} belongs to another chain with the id ${met.known}: the node at RPC_URL has a different block 0 ` +
        `(a local node begins a new chain each time it starts). ${advice}`,
    );
  }
  const contracts = await adoptFactories(database, client, settings, met.chainId);
  return { chainId: met.chainId, contracts };
}

/**
 * Stores the factories that were deployed since the database was last used. No block is read again: a factory makes collections
 * only for requests of a database that has it.
 * @throws StartupError
 */
async function adoptFactories(
  database: Database,
  client: ChainClient,
  settings: IdentitySettings,
  chainId: bigint,
): Promise<ContractAddresses> {
  const known = deployedAddresses(await readContracts(database.read));
  const contracts = await withDeployedFactories(known, settings.deploymentsDir, chainId);
  await requireCode(client, contracts, chainId);
  await requireOwnCode(client, contracts, settings);
  if (isDeepStrictEqual(contracts, known)) return known;
  const { factories } = await readDeploymentLinks(client, contracts);
  const strange = factories.find(({ relay }) => relay !== known.relay);
  if (strange !== undefined) {
    throw new StartupError(
      `The factory ${strange.factory.address} in ${deploymentFile(settings.deploymentsDir, chainId)} does not belong to the ` +
        `relay ${known.relay}. Put the file there that belongs to this database. Nothing was changed.`,
    );
  }
  const written = await database.write(async (trx) => {
    await lockLedger(trx);
    if (!isDeepStrictEqual(deployedAddresses(await readContracts(trx)), known)) return false;
    await writeContracts(trx, contracts);
    return true;
  });
  // Another process has changed them meanwhile.
  return written ? contracts : adoptFactories(database, client, settings, chainId);
}

/**
 * The contracts that a database knows, with the factories of the deployment file, in its order.
 * @throws StartupError when the file is of another deployment, or lacks a factory that the database knows.
 */
export async function withDeployedFactories(
  known: ContractAddresses,
  folder: string,
  chainId: bigint,
): Promise<ContractAddresses> {
  const file = deploymentFile(folder, chainId);
  if (!existsSync(file)) return known;
  const deployed = await readDeployment(folder, chainId);
  if (deployed.relay !== known.relay) {
    // The file may be left over from an earlier local node.
    if (chainId === LOCAL_CHAIN_ID) return known;
    throw new StartupError(
      `${file} belongs to another deployment: its relay is ${deployed.relay}, and the relay of the database is ` +
        `${known.relay}. Put the file there that belongs to this database, or remove it. Nothing was changed.`,
    );
  }
  const lacking = known.factories.filter(({ address }) => factoryAt(deployed, address) === undefined);
  if (lacking.length > 0) {
    throw new StartupError(
      `${file} lacks the factory ${lacking.map(({ address }) => address).join(", ")}, which the database knows. Put the newest ` +
        `deployment file there, or remove the file. Nothing was changed.`,
    );
  }
  return { ...known, factories: deployed.factories };
}

/** For a command: a restored database may be older than the newest factory, which its lanes have used. */
export async function addDeployedFactories(
  known: ContractAddresses,
  folder: string,
  chainId: bigint,
): Promise<ContractAddresses> {
  if (!existsSync(deploymentFile(folder, chainId))) return known;
  const deployed = await readDeployment(folder, chainId);
  if (deployed.relay !== known.relay) return known;
  const added = deployed.factories.filter(({ address }) => factoryAt(known, address) === undefined);
  return { ...known, factories: [...known.factories, ...added] };
}

/** @param stored the value in `meta`. */
export function deployedAddresses(stored: unknown): ContractAddresses {
  return storedAddresses.parse(stored);
}

async function readDeployment(folder: string, chainId: bigint): Promise<ContractAddresses> {
  const file = deploymentFile(folder, chainId);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new StartupError(
      `There are no contracts for chain ${chainId.toString()}: ${file} does not exist. ` +
        `Deploy them with \`npm run deploy -- --network <name>\`, or copy the file there that an earlier deployment wrote.`,
      { cause: error },
    );
  }
  const parsed = storedAddresses.safeParse(parseJson(text));
  if (!parsed.success) throw new StartupError(`${file} is not a deployment file: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

async function requireCode(client: ChainClient, contracts: ContractAddresses, chainId: bigint): Promise<void> {
  const missing = await contractsWithoutCode(client, contracts);
  if (missing.length > 0) {
    throw new StartupError(
      `Chain ${chainId.toString()} has no contract at ${missing.map(({ name, address }) => `${address} (${name})`).join(", ")}. ` +
        `Check that ${client.nodes.where} is a node of the right chain, and that it is in sync.`,
    );
  }
}

/**
 * Wallets delegate to the delegate, and the relay moves their tokens: an address that somebody has put into the database or into the
 * deployment file must not be used. A second node, where there is one, is asked before the start is refused.
 * @throws StartupError
 */
async function requireOwnCode(
  client: ChainClient,
  contracts: ContractAddresses,
  { allowedContractCode: allowed }: Pick<IdentitySettings, "allowedContractCode">,
): Promise<void> {
  const found = await strangeContracts(client, contracts, allowed);
  if (found.length === 0) return;
  const strange = (await client.nodes.second(() => strangeContracts(client, contracts, allowed))) ?? found;
  if (strange.length === 0) return;
  throw new StartupError(
    `These contracts are not those that Moneta deploys: ${strange.map(inWords).join("; ")}. If you did not change the deployment file ` +
      `or the database, somebody else did: compare the addresses with those of your deployment, and restore them. If the node is ` +
      `wrong, use another one. If the contracts are a build of your own, add the hashes of their code to ALLOWED_CONTRACT_CODE. ` +
      `Nothing was changed.`,
  );
}

function inWords({ name, address, hash, relay }: StrangeContract): string {
  return relay === null
    ? `the ${name} ${address} has other code (its hash is ${hash})`
    : `the ${name} ${address} belongs to the relay ${relay}`;
}
