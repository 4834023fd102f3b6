import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { getAddress, Interface, type JsonRpcProvider } from "ethers";

import { tokenFile } from "../../../api/domain/metadata-files.ts";
import { forEachAtOnce } from "../../../api/shared/at-once.ts";
import type { Records } from "../../scene/records.ts";
import type { RetryingClient } from "../client.ts";
import { type OldHost, pictureOf } from "./old-host.ts";
import { require } from "./production.ts";
import type { Contract } from "./wizards.ts";

const EVENTS = new Interface([
  "event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)",
  "event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)",
]);
/** Blocks whose logs are read at once. */
const BLOCKS = 50;
/** Calls at the same time. */
const AT_ONCE = 16;

/** Holders by token, and how many moves made them so. Every token of the rehearsal has one holder with one copy. */
async function chainOf(provider: JsonRpcProvider, { address }: Contract) {
  const owners = new Map<string, string>();
  let moves = 0;
  const head = await provider.getBlockNumber();
  for (let from = 0; from <= head; from += BLOCKS) {
    for (const log of await provider.getLogs({
      address,
      fromBlock: from,
      toBlock: Math.min(head, from + BLOCKS - 1),
    })) {
      const event = EVENTS.parseLog(log);
      if (event === null) continue;
      const { to, tokenId, id } = event.args.toObject() as { to: string; tokenId?: bigint; id?: bigint };
      owners.set(String(tokenId ?? id), getAddress(to));
      moves += 1;
    }
  }
  return { owners, moves };
}

/** The holder of each token, by its id. */
export async function ownersOf(provider: JsonRpcProvider, contract: Contract): Promise<Map<string, string>> {
  return (await chainOf(provider, contract)).owners;
}

/** @throws unless holders, supplies and moves in the database are those of the chain. */
export async function compareHolders(provider: JsonRpcProvider, records: Records, contract: Contract): Promise<void> {
  const { owners, moves } = await chainOf(provider, contract);
  const { address } = contract;
  const stored = await records.all<{ token_id: string; owner: string; quantity: string }>(
    "select token_id, owner, quantity from holdings where contract = ?",
    address,
  );
  const wrong = stored.filter(({ token_id: id, owner, quantity }) => owners.get(id) !== owner || quantity !== "1");
  require(wrong.length === 0 && stored.length === owners.size, `${address}: holders ${JSON.stringify(wrong[0])}`);
  const supplies = await records.all<{ token_id: string; supply: string }>(
    "select token_id, supply from nfts where contract = ?",
    address,
  );
  const ids = new Set(supplies.filter(({ supply }) => supply === "1").map(({ token_id: id }) => id));
  require(ids.size === owners.size &&
    supplies.length === owners.size, `${address}: supplies of ${ids.size.toString()}`);
  const text = "select count(*) as count from transfers where contract = ?";
  const { count } = await records.one<{ count: number }>(text, address);
  require(count === moves, `${address}: ${count.toString()} of ${moves.toString()} moves are stored`);
}

/**
 * @param onPage called after each page of the list.
 * @throws unless every user is there, once.
 */
export async function compareUsers(
  client: Pick<RetryingClient, "ok">,
  holders: readonly string[],
  onPage: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const users = new Map<string, string>();
  let [cursor, count] = ["", 0];
  for (let next: string | null = ""; next !== null; cursor = next === null ? "" : `?cursor=${next}`) {
    const page = (await client.ok("GET", `/v1/accounts${cursor}`)) as unknown as UsersPage;
    const named = page.wallets.filter(({ user_identifier: user }) => user !== null);
    for (const { address, user_identifier: user } of named) users.set(user ?? "", address);
    [next, count] = [page.next, count + named.length];
    await onPage();
  }
  const missing = holders.findIndex((address, index) => users.get(`user-${index.toString()}`) !== address);
  require(missing === -1 && count === holders.length, `user-${missing.toString()} is not there, or twice`);
}

interface UsersPage {
  wallets: { address: string; user_identifier: string | null }[];
  next: string | null;
}

/** What the service at the URL must serve. */
interface Served {
  host: OldHost;
  url: string;
  contract: Contract;
  tokens: number;
}

/** @throws unless the service serves the metadata and the pictures of all tokens byte for byte as the old host did. */
export async function compareServed({ host, url, contract, tokens }: Served): Promise<void> {
  const start = `${url}/metadata/31337/${contract.address}/`;
  await forEachAtOnce(Array(tokens).keys(), AT_ONCE, async (index) => {
    const id = index.toString();
    const text = await textAt(start + tokenFile(contract.type, id));
    const { image } = JSON.parse(text) as { image: string };
    require(/^ipfs:\/\/\w+$/.test(image) && text === host.metadataOf(id, image), `token ${id}: ${text}`);
    const picture = await textAt(`${url}/ipfs/${image.replace("ipfs://", "")}`);
    require(picture === pictureOf(id), `the picture of token ${id}: ${picture}`);
  });
}

async function textAt(url: string): Promise<string> {
  const answer = await fetch(url);
  const text = await answer.text();
  require(answer.status === 200, `${url}: ${answer.status.toString()} ${text}`);
  return text;
}

/** @throws unless the folder has everything as the old host had it, and nothing else. */
export function compareFolder(host: OldHost, { type }: Contract, folder: string, tokens: number): void {
  const lines = readFileSync(join(folder, "tokens.ndjson"), "utf8").trimEnd().split("\n");
  const ids = new Set<string>();
  for (const line of lines) {
    const entry = JSON.parse(line) as { token_id: string; metadata: string; media: { image?: string } };
    const { token_id: id, metadata, media } = entry;
    ids.add(id);
    const isSame = (file: string, text: string) => readFileSync(join(folder, file), "utf8") === text;
    const isRight = metadata === `metadata/${tokenFile(type, id)}` && isSame(metadata, host.metadataOf(id));
    require(isRight && isSame(media.image ?? "", pictureOf(id)), `${folder}: ${line}`);
  }
  require(ids.size === tokens && lines.length === tokens, `${folder} lists ${ids.size.toString()} tokens`);
  const others = readdirSync(folder).filter((name) => !FILES.includes(name));
  require(others.length === 0, `${folder} also has ${others.join(", ")}`);
}

const FILES = ["contract.txt", "media", "metadata", "problems.ndjson", "report.json", "report.txt", "tokens.ndjson"];
