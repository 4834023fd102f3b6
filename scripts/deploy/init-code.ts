import { CollectionFactory__factory } from "../../contracts/generated/factories/CollectionFactory__factory.js";
import { Relay__factory } from "../../contracts/generated/factories/Relay__factory.js";
import { WalletDelegate__factory } from "../../contracts/generated/factories/WalletDelegate__factory.js";
import type { Step } from "./journal.ts";
import type { Plan } from "./plan.ts";

/** Creation code with encoded arguments. The relay is deployed first, because the others take its address. */
export async function initCode(step: Step, plan: Pick<Plan, "owner" | "hostedBase">, relay: string): Promise<string> {
  switch (step) {
    case "relay":
      return (await new Relay__factory().getDeployTransaction(plan.owner)).data;
    case "factory":
      return (await new CollectionFactory__factory().getDeployTransaction(relay, plan.hostedBase)).data;
    case "delegate":
      return (await new WalletDelegate__factory().getDeployTransaction(relay)).data;
  }
}

/**
 * An upper bound for the gas of a deployment, from the length of the creation code; most of it is 200 gas for each stored
 * byte. The chain cannot estimate the later steps before the earlier ones are deployed.
 */
export function deploymentGas(code: string): bigint {
  const bytes = BigInt((code.length - 2) / 2);
  return 60_000n + bytes * (16n + 200n + 20n) + 500_000n;
}
