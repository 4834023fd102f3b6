import { VoidSigner } from "ethers";

import {
  create2Address,
  deploymentTransaction,
  findCreate2Deployer,
  initCode,
  type Placed,
} from "../../chain/deployment.ts";
import { setHostedBaseCall, setOperatorCall } from "../../chain/relay-administration.ts";
import { replaceFile } from "../../shared/write-new-file.ts";
import { OperatorError } from "../operator-error.ts";
import { announceChain, type DeployProvider, type Say } from "./announce.ts";
import { deployContracts, readKnown } from "./deploy-contracts.ts";
import { planWork, stepsOf, writeJournal } from "./journal.ts";
import type { Plan } from "./plan.ts";
import { administerRelay } from "./relay.ts";
import { hasCode } from "./transactions.ts";

/** A transaction without coins that somebody else signs, such as a hardware wallet or a multisig. */
export interface Unsigned {
  /** What it does, for people. */
  name: string;
  to: string;
  data: string;
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
  const missing = await missingContracts(plan, from, provider, say);
  if (missing.length > 0) return missing;
  const deployment = await deployContracts(plan, new VoidSigner(from, provider), say);
  if (deployment === null) return [];
  const calls = [
    ...plan.operators.map((operator) => setOperatorCall(operator, true)),
    setHostedBaseCall(plan.hostedBase),
  ];
  const place = { address: deployment.relay, since: deployment.deployedAt };
  // With no signer it sends nothing.
  const signerOf = () => Promise.resolve(null);
  const { toDo, owner } = await administerRelay(calls, place, { provider, signerOf }, say);
  if (toDo.length > 0 && owner !== from) say(`  to do     the owner of the relay, ${owner}, must sign these`);
  return toDo.map(({ text, data }) => ({ name: text, to: deployment.relay, data }));
}

async function missingContracts(plan: Plan, from: string, provider: DeployProvider, say: Say): Promise<Unsigned[]> {
  const create2Deployer = await findCreate2Deployer(provider);
  if (create2Deployer === null)
    throw new OperatorError(
      "This chain has no CREATE2 deployer, so the addresses of the contracts depend on who deploys them, and on its nonces. " +
        "Deploy with a key, and name the owner: --key-file <file> --owner <address>.",
    );
  const known = await readKnown(plan, provider, say);
  const journal = await planWork(plan, known, await provider.getBlockNumber());
  if (journal === null) return [];
  await announceChain(plan, provider, from, say);
  const placed: Placed = { ...journal.placed };
  const missing: Unsigned[] = [];
  for (const step of stepsOf(journal)) {
    const code = await initCode(step, journal, placed);
    const address = create2Address(create2Deployer, code);
    placed[step] = address;
    if (await hasCode(provider, address)) continue;
    say(`  ${step} will be at ${address}`);
    missing.push({ name: step, to: create2Deployer, data: deploymentTransaction(create2Deployer, code).data });
  }
  // Another owner or public URL would mean other addresses: the next run refuses them, as after any unfinished deployment.
  if (missing.length > 0) await writeJournal(plan, journal);
  return missing;
}

/** Writes the transactions as a batch file of Safe's Transaction Builder, version 1.0. Other programs read `to` and `data`. */
export async function writeUnsigned(file: string, chainId: bigint, unsigned: readonly Unsigned[]): Promise<void> {
  const batch = {
    version: "1.0",
    chainId: chainId.toString(),
    createdAt: Date.now(),
    meta: { name: "Moneta", description: unsigned.map(({ name }) => name).join(", ") },
    transactions: unsigned.map(({ to, data }) => ({ to, value: "0", data })),
  };
  await replaceFile(file, `${JSON.stringify(batch, null, 2)}\n`, 0o644);
}
