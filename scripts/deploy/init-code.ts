import { CollectionFactory__factory } from "../../contracts/generated/factories/CollectionFactory__factory.ts";
import { ERC1155Collection__factory } from "../../contracts/generated/factories/ERC1155Collection__factory.ts";
import { ERC721Collection__factory } from "../../contracts/generated/factories/ERC721Collection__factory.ts";
import { Relay__factory } from "../../contracts/generated/factories/Relay__factory.ts";
import { WalletDelegate__factory } from "../../contracts/generated/factories/WalletDelegate__factory.ts";
import type { Step } from "./journal.ts";
import type { Plan } from "./plan.ts";

/** The contracts that are already placed, by step. */
export type Placed = Partial<Record<Step, string>>;

/** Creation code with encoded arguments. Each contract takes addresses of contracts that were placed before it. */
export async function initCode(
  step: Step,
  plan: Pick<Plan, "owner" | "hostedBase">,
  { relay = "", erc721Implementation = "", erc1155Implementation = "" }: Placed,
): Promise<string> {
  switch (step) {
    case "relay":
      return (await new Relay__factory().getDeployTransaction(plan.owner, plan.hostedBase)).data;
    case "erc721Implementation":
      return (await new ERC721Collection__factory().getDeployTransaction(relay)).data;
    case "erc1155Implementation":
      return (await new ERC1155Collection__factory().getDeployTransaction(relay)).data;
    case "factory":
      return (
        await new CollectionFactory__factory().getDeployTransaction(relay, erc721Implementation, erc1155Implementation)
      ).data;
    case "delegate":
      return (await new WalletDelegate__factory().getDeployTransaction(relay)).data;
  }
}
