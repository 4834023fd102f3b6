import { type Provider, ZeroAddress } from "ethers";

import type { Shape } from "../../../client/client.ts";
import { ERC1155Collection__factory } from "../../../types/ethers-contracts/factories/ERC1155Collection__factory.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";

/** A movement of a token: as the chain has it, or as an event tells it. */
interface Movement {
  block: number;
  log: number;
  /** Position in the log. */
  index: number;
  token: string;
  /** All of it, as text. */
  text: string;
}

type Parts = [block: number, log: number, index: number, contract: string, token: bigint | number | string];

function movement([block, log, index, contract, token]: Parts, ...more: unknown[]): Movement {
  const text = [block, log, index, contract, token, ...more].map(String).join(" ");
  return { block, log, index, token: `${contract}/${token.toString()}`, text };
}

function orderOf(one: Movement, other: Movement): number {
  return one.block - other.block || one.log - other.log || one.index - other.index;
}

/** The movements of an ERC721 and an ERC1155 collection that the chain has now, in its order, as text. */
export async function movementsOnChain(provider: Provider, erc721: string, erc1155: string): Promise<string[]> {
  const single = ERC721Collection__factory.connect(erc721, provider);
  const copies = ERC1155Collection__factory.connect(erc1155, provider);
  const [moved, one, many] = await Promise.all([
    single.queryFilter(single.filters.Transfer()),
    copies.queryFilter(copies.filters.TransferSingle()),
    copies.queryFilter(copies.filters.TransferBatch()),
  ]);
  const found = [
    ...moved.map(({ blockNumber, index, transactionHash, args: { from, to, tokenId } }) =>
      movement([blockNumber, index, 0, erc721, tokenId], 1, from, to, transactionHash),
    ),
    ...one.map(({ blockNumber, index, transactionHash, args: { from, to, id, value } }) =>
      movement([blockNumber, index, 0, erc1155, id], value, from, to, transactionHash),
    ),
    ...many.flatMap(({ blockNumber, index, transactionHash, args: [, from, to, ids, values] }) =>
      ids.map((id, place) =>
        movement([blockNumber, index, place, erc1155, id], values[place], from, to, transactionHash),
      ),
    ),
  ];
  return found.sort(orderOf).map(({ text }) => text);
}

/** What an app knows that has read its whole feed. */
export interface Told {
  /** The movements that were told and not corrected, in the order of the chain, as text. */
  movements: string[];
  corrected: number;
  /** A sentence for each of the first events that must not be where they are. */
  problems: string[];
}

/**
 * Follows the feed as an app does that keeps the history of each token: an event of a token is behind all that the app knows of it, and
 * a correction takes back the newest one.
 */
export function followMovements(events: Shape<"EventsFeed">["events"]): Told {
  const histories = new Map<string, (Movement & { id: string })[]>();
  const problems: string[] = [];
  let corrected = 0;
  for (const event of events) {
    if (!("log_index" in event)) continue;
    const { id, contract_address: contract, token_id: token, from_address: from, to_address: to } = event;
    const move = movement(
      [event.block_number, event.log_index, event.batch_index, contract, token],
      ...[event.quantity, from ?? ZeroAddress, to ?? ZeroAddress, event.transaction_hash],
    );
    const history = histories.get(move.token) ?? [];
    histories.set(move.token, history);
    const newest = history.at(-1);
    if (event.type === "corrected") {
      corrected += 1;
      if (newest?.id !== event.corrects || newest.text !== move.text)
        problems.push(`event ${id} corrects ${event.corrects}, and the newest of its token is ${String(newest?.id)}`);
      history.pop();
    } else {
      if (newest !== undefined && orderOf(newest, move) >= 0)
        problems.push(`event ${id} tells "${move.text}" after "${newest.text}"`);
      history.push({ ...move, id });
    }
  }
  const movements = [...histories.values()].flat().sort(orderOf);
  return { movements: movements.map(({ text }) => text), corrected, problems: problems.slice(0, 20) };
}
