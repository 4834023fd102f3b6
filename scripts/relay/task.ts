import { formatEther, getAddress, isAddress, type Provider, type Signer } from "ethers";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";

import { environment } from "../../api/config/environment.ts";
import { parseSettings } from "../../api/config/settings.ts";
import { readDeploymentFile } from "../../api/operate/deploy/journal.ts";
import { Relay__factory } from "../../contracts/generated/factories/Relay__factory.ts";
import type { Relay } from "../../contracts/generated/Relay.ts";
import { currentOperators } from "./operators.ts";
import { readAction, type RelayCall } from "./actions.ts";

interface Arguments {
  action: string;
  values: string[];
  relay: string;
}

/**
 * `npm run relay -- <action> --network <name>`: what the relay's owner does in an incident. If no account here is the owner, it
 * prints the transactions that the owner must send, for a multisig.
 */
export default async function relayTask(args: Arguments, hre: HardhatRuntimeEnvironment): Promise<void> {
  const calls = readAction(args.action, args.values);
  const connection = await hre.network.create();
  const { ethers } = connection;
  const { address, since } = await findRelay(args.relay, ethers.provider);
  const relay = Relay__factory.connect(address, ethers.provider);
  const owner = await relay.owner();
  const signers = await ethers.getSigners();
  const byAddress = new Map(await Promise.all(signers.map(async (one) => [await one.getAddress(), one] as const)));
  const signer = byAddress.get(owner);
  if (signer !== undefined) await send(calls, address, signer);
  else leaveToOwner(calls, address, owner);
  if (signer !== undefined || calls.length === 0) await printState(relay, owner, since);
  await connection.close();
}

/** @throws Error that says what to correct, when no relay is there. */
async function findRelay(option: string, provider: Provider): Promise<{ address: string; since: number }> {
  const { chainId } = await provider.getNetwork();
  const { deploymentsDir: folder } = parseSettings({ PUBLIC_URL: "http://localhost", ...environment() });
  const given: unknown = option;
  if (option !== "" && !isAddress(given)) throw new Error(`--relay: ${option} is not an address.`);
  const deployment = await readDeploymentFile({ folder, chainId });
  if (option === "" && deployment === null) {
    throw new Error(
      `${folder}/${chainId.toString()}.json is missing: pass --relay <address>. \`npm run cli -- doctor\` prints it.`,
    );
  }
  const address = option === "" ? (deployment?.relay ?? "") : getAddress(option);
  if ((await provider.getCode(address)) === "0x") {
    throw new Error(`There is no contract at ${address} on chain ${chainId.toString()}.`);
  }
  return { address, since: address === deployment?.relay ? deployment.deployedAt : 0 };
}

async function send(calls: readonly RelayCall[], relay: string, owner: Signer): Promise<void> {
  for (const { text, data } of calls) {
    const sent = await owner.sendTransaction({ to: relay, data });
    console.log(`  sent      ${text} in ${sent.hash}`);
    const receipt = await sent.wait();
    console.log(`  done      block ${(receipt?.blockNumber ?? 0).toString()}`);
  }
}

function leaveToOwner(calls: readonly RelayCall[], relay: string, owner: string): void {
  for (const { text, data } of calls) {
    console.log(`  to do     the owner ${owner} must send to ${relay}: ${text}`);
    console.log(`            data ${data}`);
  }
  // Whoever runs this in a script must know that nothing has changed.
  if (calls.length > 0) process.exitCode = 1;
}

async function printState(relay: Relay, owner: string, since: number): Promise<void> {
  const provider = relay.runner?.provider;
  console.log(`  relay     ${await relay.getAddress()}`);
  console.log(`  owner     ${owner}`);
  console.log(`  state     ${(await relay.paused()) ? "paused: nothing is sent" : "not paused"}`);
  for (const operator of await currentOperators(relay, since)) {
    console.log(`  operator  ${operator} has ${formatEther((await provider?.getBalance(operator)) ?? 0n)}`);
  }
}
