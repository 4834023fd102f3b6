import { readFile } from "node:fs/promises";

import { z } from "zod";

import type { Deployment } from "../../chain/contracts.ts";
import { creationBytecode, initCode, type Placed, type Step } from "../../chain/deployment.ts";
import type { Settings } from "../../config/settings.ts";
import type { CollectionStorage } from "../../domain/command.ts";
import type { Say } from "./announce.ts";
import type { Plan } from "./plan.ts";
import { type DeployedSource, VerifierFailed, verifiersOf } from "./verifiers.ts";

/** What the committed bytecode was compiled from. `npm run contracts:update` writes it. */
const STANDARD_INPUT = new URL("../../../contracts/generated/standard-input.json", import.meta.url);

const standardInput = z.object({ compiler: z.string(), input: z.object({}).loose() });

/**
 * Publishes the sources of the contracts of a deployment at the verifiers of its chain. A contract that a verifier refuses does not stop the others.
 * @returns whether all verifiers have all contracts.
 */
export async function verifyDeployment(
  plan: Plan,
  deployment: Deployment,
  verification: Settings["verification"],
  say: Say,
): Promise<boolean> {
  const { verifiers, missing } = verifiersOf(plan.chainId, verification);
  for (const each of missing) say(`  verify    ${each}`);
  const sources = await sourcesOf(plan, deployment);
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
  if (!complete) say("  to do     run the same command again to retry the verification; nothing is deployed twice");
  return complete;
}

/** Each contract of a deployment once. Factories can share the implementation of ERC1155 collections. */
async function sourcesOf(plan: Plan, deployment: Deployment): Promise<{ name: string; source: DeployedSource }[]> {
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
  return Promise.all(
    [...wanted].map(async ([address, { step, storage: own, placed }]) => {
      const { name, bytecode } = creationBytecode(step, own);
      const { owner, hostedBase } = plan;
      const code = await initCode(step, { owner, hostedBase, storage: own }, placed);
      const source = {
        address,
        identifier: `project/contracts/${name}.sol:${name}`,
        constructorArguments: code.slice(bytecode.length),
        compiler,
        input,
      };
      return { name, source };
    }),
  );
}
