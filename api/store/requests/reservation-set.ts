import { sql } from "kysely";

import {
  type Command,
  type CreateErc1155,
  isOfWallet,
  type Mint,
  type MintErc1155,
  type WalletCommand,
} from "../../domain/command.ts";
import { type HoldingKey, holdingKey, MAX_QUANTITY, type TokenKey, tokenKey } from "../../domain/token.ts";
import { forUpdate, rowSet, textSet, type Trx } from "../db/sql.ts";
import { isOpen } from "./freezing.ts";
import { lockHoldings, lockTokens } from "./locked-rows.ts";
import { changePlaces, storeReserved, unmintedToken } from "./reservations.ts";

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
    const { rows } = await sql<Omit<CollectionState, "taken"> & { address: string }>`
      select address, max_supply, minted, reserved, metadata_frozen from collections
       where address in ${textSet(trx, addresses)}
       order by address ${forUpdate(trx)}`.execute(trx);
    for (const { address, ...row } of rows) this.#collections.set(address, { ...row, taken: 0 });
  }

  async #readTokens(trx: Trx, keys: readonly TokenKey[]): Promise<void> {
    for (const [key, row] of await lockTokens(trx, keys)) {
      this.#tokens.set(key, {
        seq: row.seq,
        supply: BigInt(row.supply),
        reserved: BigInt(row.reserved),
        onChain: row.minted_block !== null,
        changed: false,
        creation: null,
      });
    }
  }

  async #readHoldings(trx: Trx, taken: readonly WalletCommand[]): Promise<void> {
    const wanted = taken.map(({ contract, tokenId, from }) => ({ contract, tokenId, owner: from }));
    for (const [key, { seq, quantity, reserved }] of await lockHoldings(trx, wanted)) {
      this.#holdings.set(key, { seq, quantity: BigInt(quantity), reserved: BigInt(reserved), changed: false });
    }
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
  take(requestId: string, command: Command): "ok" | ReservationRefusal {
    if (!reserves(command)) return "ok";
    if (isOfWallet(command)) return this.#takeCopies(command);
    const collection = this.#collections.get(command.collection);
    // Frozen metadata has no place for a new token.
    if (command.kind !== "mint-erc1155" && command.metadata !== null && !isOpen(collection)) return "metadata_frozen";
    switch (command.kind) {
      case "mint-erc721":
        return reservePlace(collection);
      case "create-erc1155":
        return this.#create(requestId, command);
      case "mint-erc1155":
        return this.#takeSupply(command);
    }
  }

  /** The token's row is inserted unseen, until its mint is on chain. */
  #create(requestId: string, command: CreateErc1155): "ok" | ReservationRefusal {
    const key = tokenKey({ contract: command.collection, tokenId: command.tokenId });
    if (this.#tokens.has(key)) return "token_already_exists";
    this.#tokens.set(key, {
      seq: null,
      supply: 0n,
      reserved: BigInt(command.quantity),
      onChain: false,
      changed: true,
      creation: { requestId, command },
    });
    return "ok";
  }

  /** The id must be created on chain already, and its total stay within uint128. */
  #takeSupply(command: MintErc1155): "ok" | ReservationRefusal {
    const token = this.#tokens.get(tokenKey({ contract: command.collection, tokenId: command.tokenId }));
    if (token?.onChain !== true) return "token_not_found";
    const reserved = token.reserved + BigInt(command.quantity);
    if (token.supply + reserved > MAX_QUANTITY) return "supply_exceeded";
    [token.reserved, token.changed] = [reserved, true];
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
    [holding.reserved, holding.changed] = [reserved, true];
    return "ok";
  }

  /** Stores what was reserved. */
  async store(trx: Trx): Promise<void> {
    const taken = [...this.#collections].map(([address, collection]) => [address, collection.taken] as const);
    await changePlaces(trx, new Map(taken.filter(([, places]) => places > 0)));
    const tokens = [...this.#tokens.values()];
    await insertTokens(trx, tokens);
    await storeReserved(trx, "nfts", tokens.flatMap(changedRow));
    await storeReserved(trx, "holdings", [...this.#holdings.values()].flatMap(changedRow));
  }
}

function reservePlace(collection: CollectionState | undefined): "ok" | ReservationRefusal {
  if (collection === undefined) return "supply_exceeded";
  const { max_supply, minted, reserved, taken } = collection;
  if (max_supply !== null && minted + reserved + taken >= max_supply) return "supply_exceeded";
  collection.taken += 1;
  return "ok";
}

function reserves(command: Command): command is ReservingCommand {
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

/* The rows that a group of requests reserves from, and the statements that store the changes. */

interface CollectionState {
  max_supply: number | null;
  minted: number;
  reserved: number;
  metadata_frozen: number;
  taken: number;
}

interface TokenState {
  seq: number | null;
  supply: bigint;
  reserved: bigint;
  onChain: boolean;
  changed: boolean;
  /** The request that creates it in this group. */
  creation: { requestId: string; command: CreateErc1155 } | null;
}

interface HoldingState {
  seq: number;
  quantity: bigint;
  reserved: bigint;
  changed: boolean;
}

/** The tokens that the group creates. */
async function insertTokens(trx: Trx, tokens: readonly TokenState[]): Promise<void> {
  const created = tokens.flatMap(({ creation, reserved }) =>
    creation === null
      ? []
      : [{ ...unmintedToken(creation.requestId, creation.command), reserved: reserved.toString() }],
  );
  if (created.length === 0) return;
  const columns = {
    contract: "text",
    token_id: "text",
    request_id: "text",
    reserved: "text",
    token_uri: "text",
    metadata: "text",
    search_name: "text",
  } as const;
  await sql`
    insert into nfts (contract, token_id, request_id, supply, reserved, token_uri, metadata, search_name)
    select contract, token_id, request_id, '0', reserved, token_uri, metadata, search_name
      from ${rowSet(trx, columns, created)} as input order by ord`.execute(trx);
}

/** The row of a token or holding, if it is stored and something more of it is reserved. */
function changedRow({ seq, reserved, changed }: TokenState | HoldingState) {
  return changed && seq !== null ? [{ seq, reserved: reserved.toString() }] : [];
}
