import { formatEther, type Signer } from "ethers";

import { connectContracts } from "../../api/chain/local-contracts.ts";
import type { Deployment } from "./journal.ts";
import type { Plan } from "./plan.ts";

/** Adds the lanes as operators and sets the hosted base URI. If the deployer is not the relay's owner, prints what the owner must do. */
export async function administer(plan: Plan, deployment: Deployment, deployer: Signer): Promise<void> {
  const { relay } = connectContracts(deployment, deployer);
  const owner = await relay.owner();
  const mayAct = owner === (await deployer.getAddress());
  for (const operator of plan.operators) {
    if (await relay.isOperator(operator)) {
      console.log(`  operator  ${operator} is already an operator`);
    } else if (mayAct) {
      await (await relay.setOperator(operator, true)).wait();
      console.log(`  operator  ${operator} added`);
    } else {
      console.log(
        `  to do     the relay's owner ${owner} must call setOperator(${operator}, true) on ${deployment.relay}`,
      );
    }
    const funds = await deployer.provider?.getBalance(operator);
    if (funds === 0n)
      console.log(`  to do     send funds to ${operator}: this account pays the gas of every batch it sends`);
    else if (funds !== undefined)
      console.log(`  funds     ${operator} has ${formatEther(funds)} of the native currency`);
  }
  if (plan.operators.length === 0) {
    console.log(
      "  to do     no lane can send yet: run this again with --operators <addresses>, or with SEED_FILE and SEED_PASSPHRASE set",
    );
  }
  if ((await relay.hostedBaseURI()) === plan.hostedBase) return;
  if (mayAct) {
    await (await relay.setHostedBaseURI(plan.hostedBase)).wait();
    console.log(`  hosted    the base URI is now ${plan.hostedBase}`);
  } else {
    console.log(
      `  to do     the relay's owner ${owner} must call setHostedBaseURI("${plan.hostedBase}") on ${deployment.relay}`,
    );
  }
}
