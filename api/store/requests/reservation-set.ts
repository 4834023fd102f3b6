import { sql } from "kysely";

import {
  type Command,
  type CreateErc1155,
  isAdoptedMint,
  isOfWallet,
  type Mint,
  type MintErc1155,
  type WalletCommand,
} from "../../domain/command.ts";
import { type HoldingKey, holdingKey, MAX_QUANTITY, type TokenKey, tokenKey } from "../../domain/token.ts";
import { forUpdate, rowSet, textSet, type Trx } from "../db/sql.ts";
import { isOpen } from "./freezing.ts";
import { lockHoldings, lockTokens } from "./locked-rows.ts";
import { reserve } from "./reservations.ts";

/*
 * Reservations: what an accepted request uses up before its call is on chain (supply under the cap, an ERC1155 id,
 * copies of a holding). A group of requests is decided together. A fixed number of statements reads and locks the rows
 * that the decisions depend on. The decisions are made here, in the order of the calls, and then stored. So if two
 * requests cannot both succeed, one is refused immediately, whether they are in one group or in two.
 * A reservation ends when its call is seen on chain, because the chain's figures then include it, or when it has
 * failed.
 */

export type ReservingCommand = Mint | WalletCommand;

/** Why a reservation is refused. */
export type ReservationRefusal =
  | "supply_exceeded"
  | "token_already_exists"
  | "token_not_found"
  | "insufficient_balance"
  | "token_busy"
  | "metadata_frozen";

export class ReservationSet {
  readonly #collections = new Map<string, CollectionState>();
  readonly #tokens = new Map<string, TokenState>();
  readonly #holdings = new Map<string, HoldingState>();
  /** Tokens that have any holder. */
  readonly #known = new Set<string>();
  readonly #taken: { id: string; command: Command }[] = [];

  static async read(trx: Trx, all: readonly Command[]): Promise<ReservationSet> {
    const set = new ReservationSet();
    const commands = all.filter(reserves);
    const mints = commands.filter((command) => !isOfWallet(command));
    await set.#readCollections(trx, new Set(mints.map(({ collection }) => collection)));
    await set.#readTokens(trx, commands.flatMap(tokenOf));
    await set.#readHoldings(trx, commands.filter(isOfWallet));
    return set;
  }

  async #readCollections(trx: Trx, addresses: ReadonlySet<string>): Promise<void> {
    if (addresses.size === 0) return;
    const { rows } = await sql<CollectionState & { address: string }>`
      select address, max_supply, minted, reserved, metadata_frozen from collections
       where address in ${textSet(trx, addresses)}
       order by address ${forUpdate(trx)}`.execute(trx);
    for (const { address, ...row } of rows) this.#collections.set(address, row);
  }

  async #readTokens(trx: Trx, keys: readonly TokenKey[]): Promise<void> {
    for (const [key, { supply, reserved, minted_block }] of await lockTokens(trx, keys))
      this.#tokens.set(key, { supply: BigInt(supply), reserved: BigInt(reserved), onChain: minted_block !== null });
  }

  async #readHoldings(trx: Trx, taken: readonly WalletCommand[]): Promise<void> {
    const wanted = taken.map(({ contract, tokenId, from }) => ({ contract, tokenId, owner: from }));
    for (const [key, { quantity, reserved }] of await lockHoldings(trx, wanted))
      this.#holdings.set(key, { quantity: BigInt(quantity), reserved: BigInt(reserved) });
    const missing = wanted.filter((key) => !this.#holdings.has(holdingKey(key)));
    if (missing.length > 0) await this.#readKnown(trx, missing);
  }

  /** Distinguishes tokens that others hold from tokens that do not exist. */
  async #readKnown(trx: Trx, missing: readonly HoldingKey[]): Promise<void> {
    const tokens = missing.map(({ contract, tokenId }) => ({ contract, token_id: tokenId }));
    const { rows } = await sql<{ contract: string; token_id: string }>`
      select input.contract, input.token_id
        from ${rowSet(trx, { contract: "text", token_id: "text" }, tokens)} as input
       where exists (select 1 from holdings
                      where holdings.contract = input.contract and holdings.token_id = input.token_id)`.execute(trx);
    for (const row of rows) this.#known.add(tokenKey({ contract: row.contract, tokenId: row.token_id }));
  }

  /** Reserves what a request needs. @returns `ok`, or why it was refused; nothing is reserved then. */
  take(id: string, command: Command): "ok" | ReservationRefusal {
    if (!reserves(command)) return "ok";
    const result = this.#take(command);
    if (result === "ok") this.#taken.push({ id, command });
    return result;
  }

  #take(command: ReservingCommand): "ok" | ReservationRefusal {
    if (isOfWallet(command)) return this.#takeCopies(command);
    const collection = this.#collections.get(command.collection);
    // Frozen metadata has no place for a new token.
    if (command.kind !== "mint-erc1155" && command.metadata !== null && !isOpen(collection)) return "metadata_frozen";
    switch (command.kind) {
      case "mint-erc721":
        return reservePlace(collection);
      case "create-erc1155":
        return this.#create(command);
      case "mint-erc1155":
        return this.#takeSupply(command);
    }
  }

  #create({ collection: contract, tokenId, quantity }: CreateErc1155): "ok" | ReservationRefusal {
    const key = tokenKey({ contract, tokenId });
    if (this.#tokens.has(key)) return "token_already_exists";
    this.#tokens.set(key, { supply: 0n, reserved: BigInt(quantity), onChain: false });
    return "ok";
  }

  /** The id must be created on chain already, and its total stay within uint128. */
  #takeSupply(command: MintErc1155): "ok" | ReservationRefusal {
    const token = this.#tokens.get(tokenKey({ contract: command.collection, tokenId: command.tokenId }));
    if (token?.onChain !== true) return "token_not_found";
    const reserved = token.reserved + BigInt(command.quantity);
    if (token.supply + reserved > MAX_QUANTITY) return "supply_exceeded";
    token.reserved = reserved;
    return "ok";
  }

  /** Takes copies of what the wallet holds and has not promised to an earlier transfer or burn. */
  #takeCopies({ contract, tokenId, from, quantity, contractType }: WalletCommand): "ok" | ReservationRefusal {
    const holding = this.#holdings.get(holdingKey({ contract, tokenId, owner: from }));
    if (holding === undefined) {
      const key = tokenKey({ contract, tokenId });
      const known = this.#tokens.get(key)?.onChain === true || this.#known.has(key);
      return known ? "insufficient_balance" : "token_not_found";
    }
    if (contractType === "ERC721" && holding.reserved !== 0n) return "token_busy";
    const reserved = holding.reserved + BigInt(quantity);
    if (reserved > holding.quantity) return "insufficient_balance";
    holding.reserved = reserved;
    return "ok";
  }

  /** Stores what was reserved. */
  store(trx: Trx): Promise<void> {
    return reserve(trx, this.#taken);
  }
}

function reservePlace(collection: CollectionState | undefined): "ok" | ReservationRefusal {
  if (collection === undefined) return "supply_exceeded";
  const { max_supply, minted, reserved } = collection;
  if (max_supply !== null && minted + reserved >= max_supply) return "supply_exceeded";
  collection.reserved += 1;
  return "ok";
}

/** In an adopted contract nothing is: only its own code knows what it allows. */
function reserves(command: Command): command is ReservingCommand {
  if (isAdoptedMint(command)) return false;
  switch (command.kind) {
    case "create-collection":
    case "announce-metadata":
    case "freeze-metadata":
      return false;
    default:
      return true;
  }
}

function tokenOf(command: ReservingCommand): TokenKey[] {
  if (command.kind === "mint-erc721") return [];
  const contract = isOfWallet(command) ? command.contract : command.collection;
  return [{ contract, tokenId: command.tokenId }];
}

/* The rows that a group of requests reserves from, with what it has reserved so far. */

interface CollectionState {
  max_supply: number | null;
  minted: number;
  reserved: number;
  metadata_frozen: number;
}

interface TokenState {
  supply: bigint;
  reserved: bigint;
  onChain: boolean;
}

interface HoldingState {
  quantity: bigint;
  reserved: bigint;
}
