import { formatEther, type Signer } from "ethers";

import { connectContracts } from "../../chain/local-contracts.ts";
import type { Say } from "./announce.ts";
import type { Deployment } from "./journal.ts";
import type { Plan } from "./plan.ts";

/** Adds the lanes as operators and sets the hosted base URI. If the deployer is not the relay's owner, prints what the owner must do. */
export async function administer(plan: Plan, deployment: Deployment, deployer: Signer, say: Say): Promise<void> {
  const { relay } = connectContracts(deployment, deployer);
  const owner = await relay.owner();
  const mayAct = owner === (await deployer.getAddress());
  for (const operator of plan.operators) {
    if (await relay.isOperator(operator)) {
      say(`  operator  ${operator} is already an operator`);
    } else if (mayAct) {
      await (await relay.setOperator(operator, true)).wait();
      say(`  operator  ${operator} added`);
    } else {
      say(`  to do     the relay's owner ${owner} must call setOperator(${operator}, true) on ${deployment.relay}`);
    }
    const funds = await deployer.provider?.getBalance(operator);
    if (funds === 0n) say(`  to do     send funds to ${operator}: this account pays the gas of every batch it sends`);
    else if (funds !== undefined) say(`  funds     ${operator} has ${formatEther(funds)} of the native currency`);
  }
  if (plan.operators.length === 0) {
    say(
      "  to do     no lane can send yet: run this again with --operators <addresses>, or with SEED_FILE and SEED_PASSPHRASE set",
    );
  }
  if ((await relay.hostedBaseURI()) === plan.hostedBase) return;
  if (mayAct) {
    await (await relay.setHostedBaseURI(plan.hostedBase)).wait();
    say(`  hosted    the base URI is now ${plan.hostedBase}`);
  } else {
    say(
      `  to do     the relay's owner ${owner} must call setHostedBaseURI("${plan.hostedBase}") on ${deployment.relay}`,
    );
  }
}
