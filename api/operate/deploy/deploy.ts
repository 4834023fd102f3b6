import type { Signer } from "ethers";

import type { Deployment } from "../../chain/contracts.ts";
import type { Settings } from "../../config/settings.ts";
import { deployContracts } from "./deploy-contracts.ts";
import type { Plan } from "./plan.ts";
import { administer } from "./relay.ts";
import { providerOf, type Say } from "./transactions.ts";
import { verifiersOf } from "./verifiers.ts";
import { verifySources } from "./verify.ts";

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
