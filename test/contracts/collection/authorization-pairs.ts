import type { ICollection } from "../../../types/ethers-contracts/index.js";
import {
  createErc1155,
  createErc721,
  deploySystem,
  deploySystemWith,
  item,
  run,
  type Storage,
} from "../support/deploy.ts";
import { newWallet, type CompactSignature } from "../support/sign.ts";

/** A transfer that a wallet authorizes. */
export interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly tokenId: bigint;
  readonly amount: bigint;
  readonly number: bigint;
}

/** A burn that a wallet authorizes. */
export type Burn = Omit<Transfer, "to">;

/** Two ERC721 collections; a wallet holds token 1 of each. */
export async function deployErc721Pair(storage: Storage) {
  const system = await deploySystemWith(storage);
  const wallet = newWallet();
  const collections = [await createErc721(system), await createErc721(system)] as const;
  for (const collection of collections) await run(system.relay, await item(collection, "mint", wallet.address));
  const holds = async (index: 0 | 1, address: string) => (await collections[index].ownerOf(1n)) === address;
  const giveBack = () => collections[0].connect(system.bob).transferFrom(system.bob.address, wallet.address, 1n);
  const transferItem = async (index: 0 | 1, t: Transfer, s: CompactSignature) => ({
    ...(await item(collections[index], "transferWithAuthorization", t.from, t.to, t.tokenId, s.r, s.vs)),
    number: t.number,
  });
  const burnItem = async (index: 0 | 1, b: Burn, s: CompactSignature) => ({
    ...(await item(collections[index], "burnWithAuthorization", b.from, b.tokenId, s.r, s.vs)),
    number: b.number,
  });
  const another = async (to: string) => run(system.relay, await item(collections[0], "mint", to));
  const supply = async () => collections[0].totalSupply();
  const pair = collections as unknown as readonly [ICollection, ICollection];
  return { ...system, wallet, collections: pair, holds, giveBack, transferItem, burnItem, another, supply };
}

/** Two ERC1155 collections; a wallet holds one copy of id 1 of each. */
export async function deployErc1155Pair() {
  const system = await deploySystem();
  const wallet = newWallet();
  const collections = [await createErc1155(system), await createErc1155(system)] as const;
  for (const collection of collections) {
    await run(system.relay, await item(collection, "create", wallet.address, 1n, 1n, ""));
  }
  const holds = async (index: 0 | 1, address: string) => (await collections[index].balanceOf(address, 1n)) === 1n;
  const giveBack = () =>
    collections[0].connect(system.bob).safeTransferFrom(system.bob.address, wallet.address, 1n, 1n, "0x");
  const transferItem = async (index: 0 | 1, t: Transfer, s: CompactSignature) => ({
    ...(await item(collections[index], "transferWithAuthorization", t.from, t.to, t.tokenId, t.amount, s.r, s.vs)),
    number: t.number,
  });
  const burnItem = async (index: 0 | 1, b: Burn, s: CompactSignature) => ({
    ...(await item(collections[index], "burnWithAuthorization", b.from, b.tokenId, b.amount, s.r, s.vs)),
    number: b.number,
  });
  const another = async (to: string) => run(system.relay, await item(collections[0], "mint", to, 1n, 1n));
  const supply = async () => collections[0].totalSupply(1n);
  const pair = collections as unknown as readonly [ICollection, ICollection];
  return { ...system, wallet, collections: pair, holds, giveBack, transferItem, burnItem, another, supply };
}
