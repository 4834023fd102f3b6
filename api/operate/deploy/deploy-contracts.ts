import { getCreateAddress, type Provider, type Signer, VoidSigner } from "ethers";

import { findCreate2Deployer, type Placed, type Step } from "../../chain/deployment.ts";
import type { Deployment } from "../../chain/contracts.ts";
import { LOCAL_CHAIN_ID } from "../../chain/local-contracts.ts";
import { OperatorError } from "../operator-error.ts";
import { announceChain, announceCost } from "./announce.ts";
import {
  chosenStorage,
  type Journal,
  type PlannedStep,
  planWork,
  readDeploymentFile,
  stepsOf,
  writeDeploymentFile,
  writeJournal,
} from "./journal.ts";
import type { Plan } from "./plan.ts";
import { administer, NO_LANE } from "./relay.ts";
import { type DeployProvider, hasCode, providerOf, type Say, sendOnce, type Unsigned } from "./transactions.ts";

/**
 * Deploys what is missing, and lets the lanes send.
 * @returns null after a dry run.
 */
export async function deploy(
  plan: Plan,
  signer: Signer,
  say: Say,
): Promise<{ deployment: Deployment; ready: boolean } | null> {
  const deployment = await deployContracts(plan, signer, say);
  if (deployment === null) return null;
  const place = { provider: providerOf(signer), deployer: await signer.getAddress(), signer };
  const { toDo } = await administer(plan, deployment, place, say);
  return { deployment, ready: toDo.length === 0 && plan.operators.length > 0 };
}

/**
 * Deploys the contracts that are missing and writes their addresses to `deployments/<chain id>.json`. An installation that lacks
 * the wanted factory gets it beside the others, and keeps everything else.
 * @param unsigned gets the missing contracts as transactions for an account whose key is elsewhere; null: they are sent.
 * @returns null after a dry run, or when contracts are left to sign. @throws OperatorError
 */
export async function deployContracts(
  plan: Plan,
  deployer: Signer,
  say: Say,
  unsigned: Unsigned[] | null = null,
): Promise<Deployment | null> {
  const provider = providerOf(deployer);
  const create2Deployer = await findCreate2Deployer(provider);
  if (unsigned !== null) requirePredictable(create2Deployer);
  const known = await readKnown(plan, provider, say);
  const journal = await planWork(plan, known, await provider.getBlockNumber());
  if (journal === null) return useDeployed(plan, known, say);
  const from = await deployer.getAddress();
  await announceChain(plan.chainId, provider, from, say);
  if (unsigned === null) await announceCost(journal, provider, { deployer: from, create2Deployer }, say);
  if (plan.dryRun) return sentNothing(say);
  if (plan.operators.length === 0) say(`  to do     ${NO_LANE}`);
  const placed: Placed = { ...journal.placed };
  for (const planned of stepsOf(journal, create2Deployer, placed)) {
    const { step, address, to, data } = planned;
    // Each step has an address when the last one is done.
    if (unsigned === null) placed[step] = await place(plan, journal, deployer, planned, say);
    else if (to !== null && address !== undefined && !(await hasCode(provider, address))) {
      say(`  ${step} will be at ${address}`);
      unsigned.push({ name: step, to, data });
    }
  }
  if (unsigned !== null && unsigned.length > 0) {
    // Another owner or public URL would mean other addresses: the next run refuses them, as after any unfinished deployment.
    await writeJournal(plan, journal);
    return null;
  }
  const { relay, factory: address, delegate, ...implementations } = placed as Required<Placed>;
  const factory = { storage: journal.storage, signedBurns: true, address, ...implementations };
  const deployment: Deployment = {
    relay,
    factories: [factory, ...(known?.factories ?? [])],
    delegate,
    deployedAt: known?.deployedAt ?? (await firstBlock(provider, journal.startBlock, relay, say)),
  };
  return write(plan, deployment, known !== null, say);
}

async function write(plan: Plan, deployment: Deployment, isRunning: boolean, say: Say): Promise<Deployment> {
  await writeDeploymentFile(plan, deployment);
  say(`Wrote ${fileOf(plan)}`);
  const [{ storage }] = deployment.factories;
  if (isRunning)
    say(
      `New ERC721 collections have ${storage} storage after a restart of the service with this file. Those that exist stay as they are.`,
    );
  return deployment;
}

/** @throws OperatorError on a chain where nobody knows the addresses before the transactions are sent. */
function requirePredictable(create2Deployer: string | null): void {
  if (create2Deployer === null)
    throw new OperatorError(
      "This chain has no CREATE2 deployer, so the addresses of the contracts depend on who deploys them, and on its nonces. " +
        "Deploy with a key, and name the owner: --key-file <file> --owner <address>.",
    );
}

function sentNothing(say: Say): null {
  say("Nothing was sent: this was a dry run.");
  return null;
}

/** The deployment file; null when there is none, or its local chain is gone. @throws OperatorError for a file of another chain. */
async function readKnown(plan: Plan, provider: Provider, say: Say): Promise<Deployment | null> {
  const known = await readDeploymentFile(plan);
  if (known === null) return null;
  if (plan.chainId === LOCAL_CHAIN_ID && !(await hasCode(provider, known.relay))) {
    say(`${fileOf(plan)} belongs to a local chain that no longer exists. Deploying again.`);
    return null;
  }
  await requireCode(provider, "relay", known.relay);
  for (const { address, erc721Implementation, erc1155Implementation } of known.factories) {
    await requireCode(provider, "erc721Implementation", erc721Implementation);
    await requireCode(provider, "erc1155Implementation", erc1155Implementation);
    await requireCode(provider, "factory", address);
  }
  await requireCode(provider, "delegate", known.delegate);
  return known;
}

/** Everything is deployed. Notes which of the factories makes the new collections. */
async function useDeployed(plan: Plan, known: Deployment | null, say: Say): Promise<Deployment | null> {
  if (known === null) throw new Error("nothing is deployed, and nothing is to be deployed");
  say(`Already deployed: ${fileOf(plan)}`);
  if (plan.dryRun) return sentNothing(say);
  const { factories, ...others } = known;
  const storage = plan.storage ?? chosenStorage(known);
  const wanted = factories.find((factory) => factory.storage === storage && factory.signedBurns);
  if (wanted === undefined) throw new Error(`there is no factory for ${storage} storage`);
  const deployment: Deployment = { ...others, factories: [wanted, ...factories.filter((one) => one !== wanted)] };
  return wanted === factories[0] ? deployment : write(plan, deployment, true, say);
}

function fileOf({ folder, chainId }: Plan): string {
  return `${folder}/${chainId.toString()}.json`;
}

/** Deploys one contract, or finds the one that an earlier run deployed. @returns its address. */
async function place(
  plan: Plan,
  journal: Journal,
  deployer: Signer,
  { step, to, data, ...planned }: PlannedStep,
  say: Say,
): Promise<string> {
  const provider = providerOf(deployer);
  const from = await deployer.getAddress();
  const begun = journal.steps[step];
  let { address } = planned;
  const isDone = async () => address !== undefined && (await hasCode(provider, address));
  // Recorded before sending, so that the next run finds the transaction after a crash at any later point.
  const record = async (nonce: number) => {
    if (begun !== undefined) requireUnsent(plan, step, begun, { from, nonce });
    if (to === null || address === undefined) address = getCreateAddress({ from, nonce });
    journal.steps[step] = { deployer: from, nonce, address };
    await writeJournal(plan, journal);
  };
  const isNew = !(await isDone()) && (await sendOnce(deployer, { name: step, to, data, isDone, record }, say)) !== null;
  if (address === undefined) throw new Error(`the ${step} has no address`);
  await requireCode(provider, step, address);
  say(`  ${step} ${address} ${isNew ? "deployed" : "is already deployed"}`);
  return address;
}

/** What an earlier run has sent was mined, or never arrived. @throws OperatorError unless the same nonce is free */
function requireUnsent(
  plan: Plan,
  step: Step,
  begun: { deployer: string; nonce: number },
  { from, nonce }: { from: string; nonce: number },
): void {
  if (begun.deployer !== from)
    throw new OperatorError(
      `The ${step} was started by ${begun.deployer}. Run again with that account's DEPLOYER_PRIVATE_KEY.`,
    );
  if (begun.nonce < nonce)
    throw new OperatorError(
      `The transaction with nonce ${begun.nonce.toString()} of ${from} is mined but did not deploy the ${step}: the ` +
        `account sent something else, or it reverted. Remove steps.${step} from ` +
        `${plan.folder}/${plan.chainId.toString()}.partial.json and run this again.`,
    );
}

async function requireCode(provider: Provider, step: Step, address: string): Promise<void> {
  if (!(await hasCode(provider, address)))
    throw new OperatorError(
      `There is no ${step} at ${address} on this chain. Check --network and the deployment file.`,
    );
}

/** Finds the block of the relay's deployment, which may be older than this run, by a binary search in the node's past states. */
async function firstBlock(provider: Provider, startBlock: number, relay: string, say: Say): Promise<number> {
  let [low, high] = [0, startBlock];
  try {
    if (!(await hasCode(provider, relay, high))) return startBlock;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (await hasCode(provider, relay, middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  } catch (error) {
    say(
      "The node has no old states, so the block of the relay's deployment is unknown. The service will read the chain from block 0 " +
        `(${error instanceof Error ? error.message : String(error)}).`,
    );
    return 0;
  }
}

/**
 * What is missing on the chain, as transactions for an account whose key is elsewhere: first the contracts, and when they are
 * there, what the owner of the relay must call. When the contracts are there, it writes the deployment file.
 * @returns none when everything is done. @throws OperatorError
 */
export async function unsignedTransactions(
  plan: Plan,
  from: string,
  provider: DeployProvider,
  say: Say,
): Promise<Unsigned[]> {
  const missing: Unsigned[] = [];
  const deployment = await deployContracts(plan, new VoidSigner(from, provider), say, missing);
  if (deployment === null) return missing;
  const { toDo, owner } = await administer(plan, deployment, { provider, deployer: from, signer: null }, say);
  if (toDo.length > 0 && owner !== from) say(`  to do     the owner of the relay, ${owner}, must sign these`);
  return toDo.map(({ text, data }) => ({ name: text, to: deployment.relay, data }));
}
