import { createErc1155, deploySystem, ethers, item, networkHelpers, run } from "../support/deploy.ts";
import { expectFailure } from "../support/expect-failure.ts";

/** The largest supply of an id. */
export const MAX_AMOUNT = 2n ** 128n - 1n;

async function deployCollections() {
  const system = await deploySystem();
  const collection = await createErc1155(system);
  const selfHosted = await createErc1155(system, { hosted: false });
  const receiver = await ethers.deployContract("ProgrammableReceiver");
  return { ...system, collection, selfHosted, receiver };
}

/** A hosted and a self-hosted collection. `does` and `fails` call the hosted one through the relay. */
export async function setUp() {
  const system = await networkHelpers.loadFixture(deployCollections);
  const { relay, collection, factory } = system;
  const does = async (fragment: string, ...args: unknown[]) => run(relay, await item(collection, fragment, ...args));
  /** Runs one item and asserts that it fails with this error of the collection. */
  const fails = async (call: [string, ...unknown[]], error: string, ...args: unknown[]) =>
    expectFailure(relay, await item(collection, ...call), collection, error, ...args);
  const implementation = await ethers.getContractAt("ERC1155Collection", await factory.erc1155Implementation());
  return { ...system, does, fails, implementation };
}
