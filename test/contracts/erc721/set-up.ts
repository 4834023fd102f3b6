import {
  createErc721,
  deploySystemWith,
  ethers,
  fixtures,
  item,
  networkHelpers,
  run,
  type Storage,
} from "../support/deploy.ts";

async function deployCollections(storage: Storage) {
  const system = await deploySystemWith(storage);
  const collection = await createErc721(system);
  const capped = await createErc721(system, { maxSupply: 3n });
  const selfHosted = await createErc721(system, { hosted: false });
  const receiver = await ethers.deployContract("ProgrammableReceiver");
  return { ...system, collection, capped, selfHosted, receiver };
}

const FIXTURES = fixtures(deployCollections);

/** Three collections: hosted, hosted with a maximum supply of 3, self-hosted. `mintTo` mints in the first one. */
export async function setUpWith(storage: Storage) {
  const system = await networkHelpers.loadFixture(FIXTURES[storage]);
  const { relay, collection, factory } = system;
  const mintTo = async (...receivers: string[]) =>
    run(relay, ...(await Promise.all(receivers.map((to) => item(collection, "mint", to)))));
  const implementation = await ethers.getContractAt("ERC721Collection", await factory.erc721Implementation());
  return { ...system, mintTo, implementation };
}
