import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";

import type { Logger } from "pino";
import { z } from "zod";

import type { ChainClient } from "../chain/client.ts";
import { type ContractAddresses, deploymentFile, factoryAt, storedAddresses } from "../chain/contracts.ts";
import { configureLocally, deployLocally, LOCAL_CHAIN_ID, withLocalOwner } from "../chain/local-contracts.ts";
import { type StrangeContract, strangeContracts } from "../chain/deployed-code.ts";
import { contractsWithoutCode, readDeploymentLinks } from "../chain/reads.ts";
import type { Settings } from "../config/settings.ts";
import { wrongBase } from "../domain/conditions.ts";
import { parseJson } from "../shared/text.ts";
import { databaseName } from "../store/db/errors.ts";
import { readContracts, readMeta, writeContracts, writeMeta } from "../store/db/meta.ts";
import { type Db, lockLedger } from "../store/db/sql.ts";
import type { Context } from "./context.ts";
import type { Keys } from "./keys.ts";
import { StartupError } from "./startup-error.ts";

/** The chain that the database belongs to, and the service's contracts there. */
export interface Chain {
  chainId: bigint;
  contracts: ContractAddresses;
  /** Whether it is a local one. */
  local: boolean;
}

/** The base URI of hosted metadata, as the contracts know it. */
export function hostedBaseOf(settings: Pick<Settings, "publicUrl">): string {
  return `${settings.publicUrl}/metadata/`;
}

type Connected = Pick<Context, "database" | "client">;

/**
 * Finds out which chain the database belongs to, and the service's contracts there. A new database is bound to the chain
 * of the node. After that it accepts no other chain.
 * @throws StartupError
 */
export async function establishIdentity(settings: Settings, connections: Connected): Promise<Chain> {
  const { database, client } = connections;
  const chainId = await client.chainId();
  const [genesis] = await client.blocks([0]);
  if (genesis == null)
    throw new StartupError(
      `The node at ${client.nodes.where} does not return block 0, which identifies the chain. Use a node that has it.`,
    );
  const local = chainId === LOCAL_CHAIN_ID;
  const known = await readMeta(database.read, "chain_id");
  if (known !== null) {
    requireChainOf(
      settings,
      { chainId: known, genesis: await readMeta(database.read, "genesis") },
      chainId,
      genesis.hash,
    );
    return { chainId, contracts: await adoptFactories(settings, connections, chainId), local };
  }
  const contracts = await (local
    ? localContracts(settings, connections)
    : readDeployment(settings.deploymentsDir, chainId));
  await requireContracts(client, chainId, contracts, settings.allowedContractCode);
  const first = await database.write(async (trx) => {
    await lockLedger(trx);
    if ((await readMeta(trx, "chain_id")) !== null) return false;
    await writeMeta(trx, "chain_id", chainId.toString());
    await writeMeta(trx, "genesis", genesis.hash);
    await writeContracts(trx, contracts);
    await writeMeta(trx, "checkpoint", (contracts.deployedAt - 1).toString());
    await writeMeta(trx, "confirmed_block", (contracts.deployedAt - 1).toString());
    await writeMeta(trx, "token_events_to", (contracts.deployedAt - 1).toString());
    return true;
  });
  // Another process started at the same moment and bound the database first: use what it stored.
  return first ? { chainId, contracts, local } : establishIdentity(settings, connections);
}

/** On a local chain: the contracts of `npm run deploy` if they are on this chain, otherwise newly deployed ones. */
async function localContracts(settings: Settings, { client }: Connected): Promise<ContractAddresses> {
  if (existsSync(deploymentFile(settings.deploymentsDir, LOCAL_CHAIN_ID))) {
    const deployed = await readDeployment(settings.deploymentsDir, LOCAL_CHAIN_ID);
    // The file may be left over from an earlier local node.
    if ((await contractsWithoutCode(client, deployed)).length === 0) return deployed;
  }
  return withLocalOwner(client.nodes.url, (owner) => deployLocally(owner, hostedBaseOf(settings)));
}

/** @throws StartupError when the node serves another chain than that of the database. */
function requireChainOf(
  { databaseUrl }: Settings,
  known: { chainId: string; genesis: string | null },
  chainId: bigint,
  genesis: string,
): void {
  const advice =
    `Set RPC_URL to a node of the database's chain, or use a new database (another DATA_DIR or DATABASE_URL) ` +
    `for this chain. Nothing was changed.`;
  const where = `The database ${databaseName(databaseUrl)}`;
  if (known.chainId !== chainId.toString()) {
    throw new StartupError(
      `${where} belongs to chain ${known.chainId}, but the node at RPC_URL serves chain ${chainId.toString()}. ${advice}`,
    );
  }
  if (known.genesis !== genesis) {
    throw new StartupError(
      `${where} belongs to another chain with the id ${known.chainId}: the node at RPC_URL has a different block 0 ` +
        `(a local node begins a new chain each time it starts). ${advice}`,
    );
  }
}

/**
 * Stores the factories that were deployed since the database was last used. No block is read again: a factory makes collections
 * only for requests of a database that has it.
 * @throws StartupError
 */
async function adoptFactories(settings: Settings, connections: Connected, chainId: bigint): Promise<ContractAddresses> {
  const { database, client } = connections;
  const known = await contractsOf(database.read);
  const contracts = await withDeployedFactories(known, settings.deploymentsDir, chainId);
  await requireContracts(client, chainId, contracts, settings.allowedContractCode);
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
    if (!isDeepStrictEqual(await contractsOf(trx), known)) return false;
    await writeContracts(trx, contracts);
    return true;
  });
  // Another process has changed them meanwhile.
  return written ? contracts : adoptFactories(settings, connections, chainId);
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

/** The contracts of a database that belongs to a chain. @throws StartupError, DatabaseError */
export async function contractsOf(db: Db): Promise<ContractAddresses> {
  const stored = await readContracts(db, storedAddresses);
  if (stored !== null) return stored;
  throw new StartupError("The database belongs to a chain, but has no addresses of contracts. Restore a backup.");
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

/**
 * Checks that the contracts are on the chain and have the code that Moneta deploys. Wallets delegate to the delegate, and the relay
 * moves their tokens: an address that somebody has put into the database or into the deployment file must not be used. A second
 * node, where there is one, is asked before the start is refused.
 * @throws StartupError
 */
async function requireContracts(
  client: ChainClient,
  chainId: bigint,
  contracts: ContractAddresses,
  allowed: Settings["allowedContractCode"],
): Promise<void> {
  const missing = await contractsWithoutCode(client, contracts);
  if (missing.length > 0) {
    throw new StartupError(
      `Chain ${chainId.toString()} has no contract at ${missing.map(({ name, address }) => `${address} (${name})`).join(", ")}. ` +
        `Check that ${client.nodes.where} is a node of the right chain, and that it is in sync.`,
    );
  }
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

/** Funds the lanes of a local chain, and configures the contracts there. */
export async function configureLocalChain(
  settings: Settings,
  { contracts }: Chain,
  { keyring }: Keys,
  nodeUrl: string,
): Promise<void> {
  const lanes = keyring === null ? [] : settings.lanes.map((lane) => keyring.lane(lane).address);
  const hostedBase = hostedBaseOf(settings);
  await withLocalOwner(nodeUrl, (owner) => configureLocally(owner, contracts, { lanes, hostedBase }));
}

/** Warns when the contracts have a wrong base URI: nobody serves that metadata, and only marketplaces would notice. */
export async function warnOfWrongBase(
  client: ChainClient,
  contracts: ContractAddresses,
  { hostedBase, logger }: { hostedBase: string; logger: Pick<Logger, "warn"> },
): Promise<void> {
  const { hostedBase: base } = await readDeploymentLinks(client, contracts);
  const wrong = base === null ? null : wrongBase(base, hostedBase);
  if (wrong !== null) logger.warn(wrong);
}

/*
 * Defaults that differ on a local chain, which mines each transaction at once and never drops a block by itself.
 */

/** Depth at which a block counts as final, unless CONFIRMATIONS is set. */
const CONFIRMATIONS_LOCAL = 1;
const CONFIRMATIONS = 12;
/** Seconds between two polls for new blocks, unless BLOCK_POLL_SECONDS is set. */
const BLOCK_POLL_LOCAL = 0.1;
const BLOCK_POLL = 1;

export function confirmationsOf(settings: Pick<Settings, "confirmations">, local: boolean): number {
  return settings.confirmations ?? (local ? CONFIRMATIONS_LOCAL : CONFIRMATIONS);
}

/** @returns milliseconds. */
export function blockPollOf(settings: Pick<Settings, "blockPollSeconds">, local: boolean): number {
  return 1000 * (settings.blockPollSeconds ?? (local ? BLOCK_POLL_LOCAL : BLOCK_POLL));
}
