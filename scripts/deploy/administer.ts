import { formatEther, type Signer } from "ethers";

import { connectContracts } from "../../api/chain/deployed.ts";
import type { Deployment } from "./journal.ts";
import type { Plan } from "./plan.ts";

/** Makes the lanes operators and sets the hosted base, where the deployer owns the relay; else says what its owner must do. */
export async function administer(plan: Plan, deployment: Deployment, deployer: Signer): Promise<void> {
  const { relay, factory } = connectContracts(deployment, deployer);
  const owner = await relay.owner();
  const mayAct = owner === (await deployer.getAddress());
  for (const operator of plan.operators) {
    if (await relay.isOperator(operator)) {
      console.log(`  operator  ${operator} is known`);
    } else if (mayAct) {
      await (await relay.setOperator(operator, true)).wait();
      console.log(`  operator  ${operator} added`);
    } else {
      console.log(`  to do     ${owner} must call setOperator(${operator}, true) on ${deployment.relay}`);
    }
    const funds = await deployer.provider?.getBalance(operator);
    if (funds === 0n) console.log(`  to do     send funds to ${operator}: it pays for every batch`);
    else if (funds !== undefined) console.log(`  funds     ${operator} has ${formatEther(funds)}`);
  }
  if (plan.operators.length === 0) {
    console.log(
      "  to do     name the lanes with --operators, or set SEED_FILE and SEED_PASSPHRASE: no lane may send yet",
    );
  }
  if ((await factory.hostedBaseURI()) === plan.hostedBase) return;
  if (mayAct) {
    await (await factory.setHostedBaseURI(plan.hostedBase)).wait();
    console.log(`  hosted    base set to ${plan.hostedBase}`);
  } else {
    console.log(`  to do     ${owner} must call setHostedBaseURI("${plan.hostedBase}") on ${deployment.factory}`);
  }
}
