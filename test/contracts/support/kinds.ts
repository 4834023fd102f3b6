import type { ICollection } from "../../../types/ethers-contracts/index.js";
import {
  createErc1155,
  createErc721,
  deploySystem,
  deploySystemWith,
  ethers,
  fixtures,
  item,
  type Item,
  run,
  type Storage,
} from "./deploy.ts";

/** Deploys three ERC721 collections: hosted without an owner, hosted with an owner, self-hosted without an owner. */
async function deployErc721s(storage: Storage) {
  const system = await deploySystemWith(storage);
  const hosted = await createErc721(system);
  const owned = await createErc721(system, {
    owner: system.owner.address,
    royaltyBps: 500,
    royaltyRecipient: system.carol.address,
  });
  const selfHosted = await createErc721(system, { hosted: false });
  const mint = (collection: ICollection, to: string): Promise<Item> =>
    item(hosted.attach(collection.target), "mint", to);
  return { ...system, ...(await common(hosted, owned, selfHosted)), mint };
}

/** Deploys the same three as ERC1155 collections. In each, alice holds the first copies of id 1. */
async function deployErc1155s() {
  const system = await deploySystem();
  const hosted = await createErc1155(system);
  const owned = await createErc1155(system, {
    owner: system.owner.address,
    royaltyBps: 500,
    royaltyRecipient: system.carol.address,
  });
  const selfHosted = await createErc1155(system, { hosted: false });
  for (const collection of [hosted, owned, selfHosted]) {
    await run(system.relay, await item(collection, "create", system.alice.address, 1n, 10n, ""));
  }
  const mint = (collection: ICollection, to: string): Promise<Item> =>
    item(hosted.attach(collection.target), "mint", to, 1n, 1n);
  return { ...system, ...(await common(hosted, owned, selfHosted)), mint };
}

const ERC721 = fixtures(deployErc721s);

/** Both kinds of collections, for tests of the features that they share. */
export const KINDS = [
  { kind: "ERC721Collection", deploy: ERC721.standard },
  { kind: "CompactERC721Collection", deploy: ERC721.compact },
  { kind: "ERC1155Collection", deploy: deployErc1155s },
] as const;

async function common(...collections: { getAddress(): Promise<string> }[]) {
  const [hosted, owned, selfHosted] = await Promise.all(
    collections.map(async (collection) => ethers.getContractAt("ICollection", await collection.getAddress())),
  );
  return { hosted: hosted!, owned: owned!, selfHosted: selfHosted! };
}
