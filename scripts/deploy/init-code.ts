import { CollectionFactory__factory } from "../../contracts/generated/factories/CollectionFactory__factory.js";
import { Relay__factory } from "../../contracts/generated/factories/Relay__factory.js";
import { WalletDelegate__factory } from "../../contracts/generated/factories/WalletDelegate__factory.js";
import type { Step } from "./journal.ts";
import type { Plan } from "./plan.ts";

/** Creation code with its arguments. The relay comes first: the others are bound to its address. */
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
 * Gas of a deployment before it can be asked of the chain (later steps need the earlier ones): an upper estimate from
 * what creation code costs, 200 gas a stored byte above all.
 */
export function deploymentGas(code: string): bigint {
  const bytes = BigInt((code.length - 2) / 2);
  return 60_000n + bytes * (16n + 200n + 20n) + 500_000n;
}
