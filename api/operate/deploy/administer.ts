import { formatEther, type Signer } from "ethers";

import type { Deployment } from "../../chain/contracts.ts";
import { connectRelay } from "../../chain/relay-administration.ts";
import type { Say } from "./announce.ts";
import type { Plan } from "./plan.ts";
import { sendOnce } from "./transactions.ts";

export const NO_LANE =
  "no lane can send yet: run this again with --operators <addresses>, or with SEED_FILE and SEED_PASSPHRASE set";

/**
 * Adds the lanes as operators and sets the hosted base URI. If the deployer is not the relay's owner, prints what the owner must
 * do.
 * @returns whether the relay is ready for the service.
 */
export async function administer(plan: Plan, deployment: Deployment, deployer: Signer, say: Say): Promise<boolean> {
  const relay = connectRelay(deployment.relay, deployer);
  const owner = await relay.owner();
  const mayAct = owner === (await deployer.getAddress());
  let ready = plan.operators.length > 0;
  for (const operator of plan.operators) {
    if (await relay.isOperator(operator)) {
      say(`  operator  ${operator} is already an operator`);
    } else if (mayAct) {
      const step = {
        name: `operator ${operator}`,
        isDone: () => relay.isOperator(operator),
        transaction: () => relay.setOperator.populateTransaction(operator, true),
      };
      await sendOnce(deployer, step, say);
      say(`  operator  ${operator} added`);
    } else {
      ready = false;
      say(`  to do     the relay's owner ${owner} must call setOperator(${operator}, true) on ${deployment.relay}`);
    }
    const funds = await deployer.provider?.getBalance(operator);
    if (funds === 0n) say(`  to do     send funds to ${operator}: this account pays the gas of every batch it sends`);
    else if (funds !== undefined) say(`  funds     ${operator} has ${formatEther(funds)} of the native currency`);
  }
  if (plan.operators.length === 0) {
    say(`  to do     ${NO_LANE}`);
  }
  const before = await relay.hostedBaseURI();
  const isBaseSet = async () => (await relay.hostedBaseURI()) === plan.hostedBase;
  if (before === plan.hostedBase) return ready;
  if (!mayAct) {
    say(
      `  to do     the relay's owner ${owner} must call setHostedBaseURI("${plan.hostedBase}") on ${deployment.relay}`,
    );
    return false;
  }
  const step = {
    name: "hosted base URI",
    isDone: isBaseSet,
    transaction: () => relay.setHostedBaseURI.populateTransaction(plan.hostedBase),
  };
  say(`  hosted    the metadata of all hosted tokens moves from ${before} to ${plan.hostedBase}`);
  await sendOnce(deployer, step, say);
  say(
    `  hosted    the base URI is now ${plan.hostedBase}. To move it back: --public-url ${before.replace(/\/metadata\/$/, "")}`,
  );
  return ready;
}
