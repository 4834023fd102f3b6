import { sql } from "kysely";

import type { Command, CreateErc1155 } from "../../domain/command.ts";
import { holdingKey, tokenKey } from "../../domain/token.ts";
import { forUpdate, rowSet, type Trx } from "../db/sql.ts";
import { searchName } from "../listings/search.ts";
import { storedHoldings } from "../listings/stored-holdings.ts";
import { startFreezing, stopFreezing } from "./freezing.ts";
import type { StoredRequest } from "./requests.ts";

interface Release {
  command: Command;
  /** Whether the call was seen to succeed. Otherwise it has failed, or was never made. */
  happened: boolean;
}

/** Copies of a token whose reservation changes. `owner` is null for the supply of the token itself. */
interface Copies {
  contract: string;
  tokenId: string;
  owner: string | null;
  quantity: bigint;
}

type HeldCopies = Copies & { owner: string };

/** Gives back what requests had reserved. Called once for each: when its call was seen to succeed, or when it has failed. */
export async function releaseReservations(trx: Trx, releases: readonly Release[]): Promise<void> {
  const places = new Map<string, number>();
  const supplies: Copies[] = [];
  const holdings: HeldCopies[] = [];
  const abandoned: { contract: string; token_id: string }[] = [];
  for (const { command, happened } of releases) {
    switch (command.kind) {
      case "create-collection":
      case "announce-metadata":
        break;
      case "mint-erc721":
        places.set(command.collection, (places.get(command.collection) ?? 0) + 1);
        break;
      case "create-erc1155":
      case "mint-erc1155": {
        const { collection: contract, tokenId, quantity } = command;
        supplies.push(copiesOf(contract, tokenId, null, quantity));
        if (!happened) abandoned.push({ contract, token_id: tokenId });
        break;
      }
      case "freeze-metadata":
        if (!happened) await stopFreezing(trx, command.collection);
        break;
      case "transfer":
      case "burn": {
        const { contract, tokenId, from: owner, quantity } = command;
        holdings.push(copiesOf(contract, tokenId, owner, quantity));
        break;
      }
    }
  }
  await releasePlaces(trx, places);
  await changeSupplies(trx, supplies, lowered);
  await changeHoldings(trx, holdings, lowered);
  await deleteAbandoned(trx, abandoned);
}

/**
 * A row that was deleted and came back (the token moved outside the service meanwhile) has no reservation to give back
 * any more, so nothing goes below zero.
 */
function lowered(reserved: bigint, quantity: bigint): bigint {
  return reserved > quantity ? reserved - quantity : 0n;
}

function raised(reserved: bigint, quantity: bigint): bigint {
  return reserved + quantity;
}

/**
 * Takes reservations again, because a reorg dropped the block of their calls. They were granted once, so no limit is
 * checked: the chain itself decides in the end.
 */
export async function reserveAgain(
  trx: Trx,
  requests: readonly Pick<StoredRequest, "id" | "command">[],
): Promise<void> {
  const places = new Map<string, number>();
  const supplies: Copies[] = [];
  const holdings: HeldCopies[] = [];
  for (const { id, command } of requests) {
    switch (command.kind) {
      case "create-collection":
      case "announce-metadata":
        break;
      case "freeze-metadata":
        await startFreezing(trx, command.collection);
        break;
      case "mint-erc721":
        places.set(command.collection, (places.get(command.collection) ?? 0) + 1);
        break;
      case "create-erc1155":
        // Its row is gone where the call had failed.
        await insertReservedToken(trx, id, command);
        supplies.push(copiesOf(command.collection, command.tokenId, null, command.quantity));
        break;
      case "mint-erc1155":
        supplies.push(copiesOf(command.collection, command.tokenId, null, command.quantity));
        break;
      case "transfer":
      case "burn":
        holdings.push(copiesOf(command.contract, command.tokenId, command.from, command.quantity));
        break;
    }
  }
  await takePlacesAgain(trx, places);
  await changeSupplies(trx, supplies, raised);
  await changeHoldings(trx, holdings, raised);
}

function copiesOf<Owner extends string | null>(contract: string, tokenId: string, owner: Owner, quantity: string) {
  return { contract, tokenId, owner, quantity: BigInt(quantity) };
}

/** The row of an id that is not on chain, with nothing reserved yet. Does nothing where the id has a row. */
async function insertReservedToken(trx: Trx, requestId: string, command: CreateErc1155): Promise<void> {
  await trx
    .insertInto("nfts")
    .values({
      contract: command.collection,
      token_id: command.tokenId,
      request_id: requestId,
      supply: "0",
      reserved: "0",
      token_uri: command.uri,
      metadata: command.metadata === null ? null : JSON.stringify(command.metadata),
      search_name: searchName(command.metadata, command.tokenId),
      minted_block: null,
      minted_at: null,
    })
    .onConflict((conflict) => conflict.columns(["contract", "token_id"]).doNothing())
    .execute();
}

async function takePlacesAgain(trx: Trx, places: ReadonlyMap<string, number>): Promise<void> {
  if (places.size === 0) return;
  const rows = [...places].map(([address, count]) => ({ address, count }));
  await sql`
    update collections set reserved = reserved + input.count
      from ${rowSet(trx, { address: "text", count: "integer" }, rows)} as input
     where collections.address = input.address`.execute(trx);
}

/** Places under the caps of ERC721 collections. */
async function releasePlaces(trx: Trx, places: ReadonlyMap<string, number>): Promise<void> {
  if (places.size === 0) return;
  const rows = [...places].map(([address, count]) => ({ address, count }));
  await sql`
    update collections set reserved = case when reserved > input.count then reserved - input.count else 0 end
      from ${rowSet(trx, { address: "text", count: "integer" }, rows)} as input
     where collections.address = input.address`.execute(trx);
}

async function changeSupplies(trx: Trx, copies: readonly Copies[], change: Change): Promise<void> {
  if (copies.length === 0) return;
  const wanted = [...sumOf(copies).values()].map(({ contract, tokenId }) => ({ contract, token_id: tokenId }));
  const { rows } = await sql<ReservedRow>`
    select nfts.seq, nfts.contract, nfts.token_id, null as owner, nfts.reserved from nfts
      join ${rowSet(trx, { contract: "text", token_id: "text" }, wanted)} as input
        on nfts.contract = input.contract and nfts.token_id = input.token_id
     order by nfts.seq ${forUpdate(trx)}`.execute(trx);
  const changed = changedRows(rows, copies, change);
  if (changed.length === 0) return;
  await sql`
    update nfts set reserved = input.reserved
      from ${rowSet(trx, { seq: "integer", reserved: "text" }, changed)} as input where nfts.seq = input.seq`.execute(
    trx,
  );
}

async function changeHoldings(trx: Trx, copies: readonly HeldCopies[], change: Change): Promise<void> {
  if (copies.length === 0) return;
  const { rows } = await sql<ReservedRow>`
    select seq, contract, token_id, owner, reserved from holdings
     where seq in (select seq from ${storedHoldings(trx, [...sumOf(copies).values()])} as stored)
     order by seq ${forUpdate(trx)}`.execute(trx);
  const changed = changedRows(rows, copies, change);
  if (changed.length === 0) return;
  await sql`
    update holdings set reserved = input.reserved
      from ${rowSet(trx, { seq: "integer", reserved: "text" }, changed)} as input
     where holdings.seq = input.seq`.execute(trx);
}

/** The row of an ERC1155 id that is not on chain lives exactly as long as something of it is reserved. */
async function deleteAbandoned(trx: Trx, tokens: readonly { contract: string; token_id: string }[]): Promise<void> {
  if (tokens.length === 0) return;
  const input = rowSet(trx, { contract: "text", token_id: "text" }, tokens);
  await sql`
    delete from nfts where minted_block is null and reserved = '0'
       and (contract, token_id) in (select contract, token_id from ${input} as input)`.execute(trx);
}

interface ReservedRow {
  seq: number;
  contract: string;
  token_id: string;
  owner: string | null;
  reserved: string;
}

type Change = (reserved: bigint, quantity: bigint) => bigint;

function changedRows(rows: readonly ReservedRow[], copies: readonly Copies[], change: Change) {
  const sums = sumOf(copies);
  return rows.map((row) => {
    const quantity =
      sums.get(keyOf({ contract: row.contract, tokenId: row.token_id, owner: row.owner }))?.quantity ?? 0n;
    return { seq: row.seq, reserved: change(BigInt(row.reserved), quantity).toString() };
  });
}

function sumOf<Some extends Copies>(copies: readonly Some[]): Map<string, Some> {
  const sums = new Map<string, Some>();
  for (const one of copies) {
    const key = keyOf(one);
    sums.set(key, { ...one, quantity: one.quantity + (sums.get(key)?.quantity ?? 0n) });
  }
  return sums;
}

function keyOf({ owner, ...token }: Pick<Copies, "contract" | "tokenId" | "owner">): string {
  return owner === null ? tokenKey(token) : holdingKey({ ...token, owner });
}
