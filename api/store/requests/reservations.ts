import { type RawBuilder, sql } from "kysely";

import { type Command, type CreateErc1155, isAdoptedMint } from "../../domain/command.ts";
import { type HoldingKey, holdingKey, type TokenKey, tokenKey } from "../../domain/token.ts";
import { inParts, rowSet, type Trx } from "../db/sql.ts";
import { searchName } from "../listings/search.ts";
import { startFreezing, stopFreezing } from "./freezing.ts";
import { lockHoldings, lockTokens } from "./locked-rows.ts";
import type { StoredRequest } from "./requests.ts";

interface Release {
  command: Command;
  /** Whether the call was seen to succeed. Otherwise it has failed, or was never made. */
  happened: boolean;
}

/** Gives back what requests had reserved. Called once for each: when its call was seen to succeed, or when it has failed. */
export async function releaseReservations(trx: Trx, releases: readonly Release[]): Promise<void> {
  const unmade = releases.flatMap(({ command, happened }) => (happened ? [] : [command]));
  for (const command of unmade) if (command.kind === "freeze-metadata") await stopFreezing(trx, command.collection);
  await changeReserved(
    trx,
    releases.map(({ command }) => command),
    -1,
  );
  await deleteAbandoned(trx, unmade);
}

/**
 * Takes reservations again, because a reorg dropped the block of their calls. They were granted once, so no limit is
 * checked: the chain itself decides in the end.
 */
export async function reserveAgain(
  trx: Trx,
  requests: readonly Pick<StoredRequest, "id" | "command">[],
): Promise<void> {
  for (const { command } of requests)
    if (command.kind === "freeze-metadata") await startFreezing(trx, command.collection);
  // The row of an id is gone where the call had failed.
  await insertUnminted(trx, requests, sql`on conflict (contract, token_id) do nothing`);
  await changeReserved(
    trx,
    requests.map(({ command }) => command),
    1,
  );
}

/** Takes the reservations of accepted requests, within limits that were checked. @throws when an id has been created meanwhile. */
export async function reserve(trx: Trx, requests: readonly { id: string; command: Command }[]): Promise<void> {
  await insertUnminted(trx, requests, sql``);
  await changeReserved(
    trx,
    requests.map(({ command }) => command),
    1,
  );
}

/** How many copies more or less are reserved. */
interface Change {
  change: bigint;
}

/** @param sign 1 reserves what the commands need, -1 gives it back. */
async function changeReserved(trx: Trx, commands: readonly Command[], sign: 1 | -1): Promise<void> {
  const places = new Map<string, number>();
  const supplies = new Map<string, TokenKey & Change>();
  const holdings = new Map<string, HoldingKey & Change>();
  for (const command of commands) {
    if (isAdoptedMint(command)) continue;
    switch (command.kind) {
      case "create-collection":
      case "announce-metadata":
      case "freeze-metadata":
        break;
      case "mint-erc721":
        places.set(command.collection, (places.get(command.collection) ?? 0) + sign);
        break;
      case "create-erc1155":
      case "mint-erc1155": {
        const token = { contract: command.collection, tokenId: command.tokenId };
        const { change } = supplies.get(tokenKey(token)) ?? { change: 0n };
        supplies.set(tokenKey(token), { ...token, change: change + BigInt(sign) * BigInt(command.quantity) });
        break;
      }
      case "transfer":
      case "burn": {
        const holding = { contract: command.contract, tokenId: command.tokenId, owner: command.from };
        const { change } = holdings.get(holdingKey(holding)) ?? { change: 0n };
        holdings.set(holdingKey(holding), { ...holding, change: change + BigInt(sign) * BigInt(command.quantity) });
        break;
      }
    }
  }
  await changePlaces(trx, places);
  await storeReserved(trx, "nfts", changedRows(await lockTokens(trx, supplies.values()), supplies));
  await storeReserved(trx, "holdings", changedRows(await lockHoldings(trx, holdings.values()), holdings));
}

/** The row of an id that is not on chain, as its request makes it. */
function unmintedToken(requestId: string, { collection, tokenId, uri, metadata }: CreateErc1155) {
  return {
    contract: collection,
    token_id: tokenId,
    request_id: requestId,
    token_uri: uri,
    metadata: metadata === null ? null : JSON.stringify(metadata),
    search_name: searchName(metadata, tokenId),
  };
}

const UNMINTED = {
  contract: "text",
  token_id: "text",
  request_id: "text",
  token_uri: "text",
  metadata: "text",
  search_name: "text",
} as const;

/** Inserts the rows of new ids unseen, until their mints are on chain, and with nothing reserved yet. */
async function insertUnminted(
  trx: Trx,
  requests: readonly { id: string; command: Command }[],
  ifThere: RawBuilder<unknown>,
): Promise<void> {
  const rows = requests.flatMap(({ id, command }) =>
    command.kind === "create-erc1155" && !isAdoptedMint(command) ? [unmintedToken(id, command)] : [],
  );
  for (const part of inParts(rows)) {
    await sql`
      insert into nfts (contract, token_id, request_id, token_uri, metadata, search_name, supply, reserved)
      select contract, token_id, request_id, token_uri, metadata, search_name, '0', '0'
        from ${rowSet(trx, UNMINTED, part)} as input where true order by ord ${ifThere}`.execute(trx);
  }
}

/** Changes how many places under the caps of ERC721 collections are reserved. @param places the changes by address. */
async function changePlaces(trx: Trx, places: ReadonlyMap<string, number>): Promise<void> {
  if (places.size === 0) return;
  const rows = [...places].map(([address, change]) => ({ address, change }));
  await sql`
    update collections set reserved = case when reserved + input.change > 0 then reserved + input.change else 0 end
      from ${rowSet(trx, { address: "text", change: "integer" }, rows)} as input
     where collections.address = input.address`.execute(trx);
}

/**
 * A row that was deleted and came back (the token moved outside the service meanwhile) has no reservation to give back
 * any more, so nothing goes below zero.
 */
function changedRows(
  stored: ReadonlyMap<string, ReservedCopies>,
  changes: ReadonlyMap<string, Change>,
): ReservedCopies[] {
  return Array.from(stored, ([key, { seq, reserved }]) => {
    const sum = BigInt(reserved) + (changes.get(key)?.change ?? 0n);
    return { seq, reserved: (sum > 0n ? sum : 0n).toString() };
  });
}

/** How many copies of a row are reserved. */
interface ReservedCopies {
  seq: number;
  reserved: string;
}

async function storeReserved(trx: Trx, table: "nfts" | "holdings", rows: readonly ReservedCopies[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    update ${sql.table(table)} set reserved = input.reserved
      from ${rowSet(trx, { seq: "integer", reserved: "text" }, rows)} as input
     where ${sql.ref(`${table}.seq`)} = input.seq`.execute(trx);
}

/** The row of an ERC1155 id that is not on chain lives exactly as long as something of it is reserved. */
async function deleteAbandoned(trx: Trx, commands: readonly Command[]): Promise<void> {
  const tokens = commands.flatMap((command) =>
    command.kind === "create-erc1155" || command.kind === "mint-erc1155"
      ? [{ contract: command.collection, token_id: command.tokenId }]
      : [],
  );
  if (tokens.length === 0) return;
  const input = rowSet(trx, { contract: "text", token_id: "text" }, tokens);
  await sql`
    delete from nfts where minted_block is null and reserved = '0'
       and (contract, token_id) in (select contract, token_id from ${input} as input)`.execute(trx);
}
