import { id, type Log } from "ethers";

import { ERC1155Collection__factory } from "../../contracts/generated/factories/ERC1155Collection__factory.ts";
import { ERC721Collection__factory } from "../../contracts/generated/factories/ERC721Collection__factory.ts";
import { PlainERC721__factory } from "../../contracts/generated/factories/mocks/PlainERC721__factory.ts";
import type { Records } from "../scene/records.ts";
import type { Completed } from "./compare-database.ts";
import type { RoundResult } from "./check.ts";
import type { World } from "./world.ts";

/** The newest owners are all compared with the chain; of the older ones this share, because a world can have thousands. */
const SAMPLE = 0.02;
const NEWEST = 300;

interface Holding {
  token_id: string;
  owner: string;
  quantity: string;
}

const OWNERS = "select token_id, owner, quantity from holdings where contract = ? order by seq";

/** Compares the database with the chain: tokens, supplies, owners and nonces. Adds each difference to `result`. */
export async function compareWithChain(world: World, records: Records, result: RoundResult): Promise<void> {
  for (const collection of [world.erc721, world.attacker.collection]) {
    await compareErc721(world, collection, records, result);
  }
  await compareErc1155(world, records, result);
  await compareForeign(world, records, result);
  await compareNonces(world, records, result);
}

const TRANSFERS = [
  id("Transfer(address,address,uint256)"),
  id("TransferSingle(address,address,address,uint256,uint256)"),
];

/**
 * Compares what the service says of completed requests with the chain itself: the nodes that fail stand in front of another one,
 * which is asked here.
 */
export async function compareSettled(world: World, completed: Completed[], result: RoundResult): Promise<void> {
  const byTransaction = Map.groupBy(completed, ({ transaction_hash: hash }) => hash);
  await inSlices([...byTransaction], async ([hash, requests]) => {
    const receipt = await world.node.provider.getTransactionReceipt(hash);
    result.wrong += requests.filter((request) => {
      if (receipt?.status !== 1 || receipt.blockNumber !== request.block_number) return true;
      if (!request.type.startsWith("mint")) return false;
      return !receipt.logs.some(
        (log) =>
          log.address === request.nft_collection && TRANSFERS.includes(log.topics[0] ?? "") && isOf(log, request),
      );
    }).length;
  });
}

/** Whether a log is the transfer of the request's token. */
function isOf({ topics, data }: Pick<Log, "topics" | "data">, { nft_token_id: token }: Completed): boolean {
  const [, , , last = ""] = topics;
  return BigInt(topics[0] === TRANSFERS[0] ? last : data.slice(0, 66)) === BigInt(token ?? -1);
}

/** Ids run 1, 2, 3 ...: one token for each completed mint, each with a different id and the stored owner. */
async function compareErc721(world: World, collection: string, records: Records, result: RoundResult): Promise<void> {
  const contract = ERC721Collection__factory.connect(collection, world.node.provider);
  const minted = Number(await contract.totalMinted());
  const requests = await records.all<{ nft_token_id: string }>(
    `select nft_token_id from requests where status = 'completed' and ${records.field("command", "kind")} = 'mint-erc721'
      and ${records.field("command", "collection")} = ?`,
    collection,
  );
  const ids = new Set(requests.map((row) => row.nft_token_id));
  if (minted > requests.length) result.duplicated += minted - requests.length;
  if (minted < requests.length) result.lost += requests.length - minted;
  if (ids.size !== requests.length)
    result.other.push(`${(requests.length - ids.size).toString()} mints share a token id with another mint`);
  const holders = await records.all<Holding>(OWNERS, collection);
  if (holders.length !== minted)
    result.other.push(`the database has ${holders.length.toString()} owners, the chain ${minted.toString()} tokens`);
  const sample = holders.slice(-NEWEST).concat(holders.slice(0, -NEWEST).filter(() => world.random.chance(SAMPLE)));
  await inSlices(sample, async ({ token_id: token, owner }) => {
    const actual = await contract.ownerOf(token);
    if (actual !== owner) result.other.push(`the database says that ${owner} owns token ${token}; ${actual} owns it`);
  });
}

/** Supplies and balances of ERC1155 ids. */
async function compareErc1155(world: World, records: Records, result: RoundResult): Promise<void> {
  const contract = ERC1155Collection__factory.connect(world.erc1155, world.node.provider);
  const [kind, collection, token, quantity] = ["kind", "collection", "tokenId", "quantity"].map((name) =>
    records.field("command", name),
  );
  const minted = await records.all<{ token: string; quantity: number }>(
    `select ${String(token)} token,
       sum(case status when 'completed' then cast(${String(quantity)} as integer) else 0 end) quantity
     from requests where ${String(kind)} in ('create-erc1155', 'mint-erc1155') and ${String(collection)} = ? group by 1`,
    world.erc1155,
  );
  await inSlices(minted, async ({ token, quantity }) => {
    const supply = Number(await contract.totalSupply(token));
    if (supply > quantity) result.duplicated++;
    if (supply < quantity) result.lost++;
  });
  const holdings = await records.all<Holding>(OWNERS, world.erc1155);
  await inSlices(holdings, async ({ token_id: token, owner, quantity }) => {
    const actual = (await contract.balanceOf(owner, token)).toString();
    if (actual !== quantity)
      result.other.push(`the database says that ${owner} has ${quantity} of token ${token}; the chain says ${actual}`);
  });
}

/** Owners of tokens that another contract made. */
async function compareForeign(world: World, records: Records, result: RoundResult): Promise<void> {
  const contract = PlainERC721__factory.connect(world.foreign, world.node.provider);
  const holdings = await records.all<Holding>(OWNERS, world.foreign);
  await inSlices(holdings, async ({ token_id: token, owner }) => {
    const actual = await contract.ownerOf(token);
    if (actual !== owner)
      result.other.push(`the database says that ${owner} owns foreign token ${token}; ${actual} owns it`);
  });
}

/** Every nonce that a lane has used is in a block. */
async function compareNonces(world: World, records: Records, result: RoundResult): Promise<void> {
  const lanes = await records.all<{ lane: number; address: string; next_nonce: number }>(
    "select lane, address, next_nonce from lanes",
  );
  for (const { lane, address, next_nonce: next } of lanes) {
    const mined = await world.node.provider.getTransactionCount(address);
    if (mined !== next)
      result.other.push(
        `lane ${lane.toString()} has ${mined.toString()} transactions on chain, ${next.toString()} in the database`,
      );
  }
}

/** Fifty calls of the node at a time. */
async function inSlices<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += 50) await Promise.all(items.slice(start, start + 50).map(work));
}
