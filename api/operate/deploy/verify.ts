import { readFile } from "node:fs/promises";

import { z } from "zod";

import type { ChainClient } from "../../chain/client.ts";
import type { Deployment } from "../../chain/contracts.ts";
import { creationBytecode, initCode, type Placed, type Step } from "../../chain/deployment.ts";
import { readCloneTarget } from "../../chain/reads.ts";
import type { CollectionStorage } from "../../domain/command.ts";
import type { Settings } from "../../config/settings.ts";
import { VERIFIED, type Verified } from "../../domain/verification.ts";
import type { Database } from "../../store/db/database.ts";
import { storeVerified, unverifiedCollections } from "../../store/listings/collections.ts";
import type { Plan } from "./plan.ts";
import type { Say } from "./transactions.ts";
import { type Clone, type DeployedSource, type Verifier, VerifierFailed, verifiersOf } from "./verifiers.ts";

/** What the committed bytecode was compiled from. `npm run update -- contracts` writes it. */
const STANDARD_INPUT = new URL("../../../contracts/generated/standard-input.json", import.meta.url);

const standardInput = z.object({ compiler: z.string(), input: z.object({}).loose() });

/** The arguments of the relay, which are in no file. */
type RelayArguments = Pick<Plan, "owner" | "hostedBase">;

/** Publishes the sources of a deployment at the verifiers of its chain. @returns whether all of them have all contracts */
export async function publishSources(
  plan: Plan,
  deployment: Deployment,
  verification: Settings["verification"],
  say: Say,
): Promise<boolean> {
  const { verifiers, missing } = verifiersOf(plan.chainId, verification);
  for (const each of missing) say(`  verify    ${each}`);
  const complete = await verifySources(verifiers, deployment, plan, say);
  if (!complete) say("  to do     run the same command again to retry the verification; nothing is deployed twice");
  return complete;
}

/**
 * Publishes the sources of the contracts of a deployment. A contract that a verifier refuses does not stop the others.
 * @param relay null: only the implementations, which the collections run.
 * @returns whether all verifiers have all of them.
 */
export async function verifySources(
  verifiers: readonly Verifier[],
  deployment: Deployment,
  relay: RelayArguments | null,
  say: Say,
): Promise<boolean> {
  const sources = await sourcesOf(deployment, relay);
  let complete = true;
  for (const verifier of verifiers) {
    for (const { name, source } of sources) {
      const { verified, words } = await verifier.verify(source).catch((error: unknown) => {
        if (error instanceof VerifierFailed) return { verified: false, words: error.message };
        throw error;
      });
      say(`  verify    ${verifier.title}: ${name} ${source.address} ${verified ? words : `is not verified: ${words}`}`);
      complete &&= verified;
    }
  }
  return complete;
}

/** Each contract of a deployment once. Factories can share the implementation of ERC1155 collections. */
async function sourcesOf(
  deployment: Deployment,
  relayArguments: RelayArguments | null,
): Promise<{ name: string; source: DeployedSource }[]> {
  const { compiler, input } = standardInput.parse(JSON.parse(await readFile(STANDARD_INPUT, "utf8")));
  const { relay, factories, delegate } = deployment;
  const wanted = new Map<string, { step: Step; storage: CollectionStorage; placed: Placed }>();
  const [{ storage }] = factories;
  wanted.set(relay, { step: "relay", storage, placed: {} });
  for (const { address, storage: own, erc721Implementation, erc1155Implementation } of factories) {
    wanted.set(erc721Implementation, { step: "erc721Implementation", storage: own, placed: { relay } });
    wanted.set(erc1155Implementation, { step: "erc1155Implementation", storage: own, placed: { relay } });
    const placed = { relay, erc721Implementation, erc1155Implementation };
    wanted.set(address, { step: "factory", storage: own, placed });
  }
  wanted.set(delegate, { step: "delegate", storage, placed: { relay } });
  const isImplementation = (step: Step) => step === "erc721Implementation" || step === "erc1155Implementation";
  const chosen = [...wanted].filter(([, { step }]) => relayArguments !== null || isImplementation(step));
  return chosen.map(([address, { step, storage: own, placed }]) => {
    const { name, bytecode } = creationBytecode(step, own);
    const { owner, hostedBase } = relayArguments ?? { owner: "", hostedBase: "" };
    const code = initCode(step, { owner, hostedBase, storage: own }, placed);
    const source = {
      address,
      identifier: `project/contracts/${name}.sol:${name}`,
      constructorArguments: code.slice(bytecode.length),
      compiler,
      input,
    };
    return { name, source };
  });
}

/** Collections read at once. */
const PAGE = 500;
/** A verifier without an answer for so many collections, one after the other, is not asked any more. */
const MOST_FAULTS = 3;

/**
 * Asks the verifiers about each collection whose sources they did not know yet, and stores the best answer in its field
 * `verified`. Where no verifier answers, nothing is stored.
 */
export async function verifyCollections(
  { database, client }: { database: Database; client: Pick<ChainClient, "code"> },
  verifiers: readonly Verifier[],
  say: Say,
): Promise<{ due: number; verified: number; failed: number }> {
  const result = { due: 0, verified: 0, failed: 0 };
  const faults = new Map<Verifier, number>();
  for (let after = 0, more = true; more;) {
    const page = await unverifiedCollections(database.read, after, PAGE);
    for (const { address } of page) {
      result.due += 1;
      const usable = verifiers.filter((each) => (faults.get(each) ?? 0) < MOST_FAULTS);
      if (usable.length === 0) continue;
      const implementation = await readCloneTarget(client, address, new AbortController().signal);
      const answers: Verified[] = implementation === null ? ["failed"] : [];
      if (implementation === null) say(`  verify    ${address} is not verified: its code is not that of a clone`);
      else
        for (const verifier of usable) {
          const answer = await askAbout({ address, implementation }, verifier, say);
          faults.set(verifier, answer === null ? (faults.get(verifier) ?? 0) + 1 : 0);
          if (answer !== null) answers.push(answer);
        }
      const best = VERIFIED.find((each) => answers.includes(each));
      if (best === undefined) continue;
      result[best === "failed" ? "failed" : "verified"] += 1;
      await database.write((trx) => storeVerified(trx, address, best));
    }
    more = page.length === PAGE;
    after = page.at(-1)?.seq ?? after;
  }
  return result;
}

/** @returns null when the verifier has no answer. */
async function askAbout(clone: Clone, verifier: Verifier, say: Say): Promise<Verified | null> {
  const about = `  verify    ${verifier.title}: ${clone.address}`;
  try {
    const { verified, words } = await verifier.verifyClone(clone);
    say(`${about} ${verified === "failed" ? `is not verified: ${words}` : `is verified (${verified})`}`);
    return verified;
  } catch (error) {
    if (!(error instanceof VerifierFailed)) throw error;
    say(`${about} got no answer: ${error.message}`);
    return null;
  }
}
