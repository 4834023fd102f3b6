import { deploySystem, ethers, networkHelpers } from "../support/deploy.ts";

async function deployWithProbe() {
  const system = await deploySystem();
  const probe = await ethers.deployContract("CallProbe");
  return { ...system, probe, probeAddress: await probe.getAddress(), relayAddress: await system.relay.getAddress() };
}

/** A relay with an operator, and a {CallProbe} as target. */
export function setUp() {
  return networkHelpers.loadFixture(deployWithProbe);
}
