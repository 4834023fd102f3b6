import { sql } from "kysely";

import type { CreateErc1155 } from "../../domain/command.ts";
import type { Trx } from "../db/engine.ts";
import { rowSet } from "../db/row-set.ts";

/* The rows that a group of requests reserves from, and the statements that store the changes. */

export interface CollectionState {
  max_supply: number | null;
  minted: number;
  reserved: number;
  metadata_frozen: number;
  taken: number;
}

export interface TokenState {
  seq: number | null;
  supply: bigint;
  reserved: bigint;
  onChain: boolean;
  changed: boolean;
  /** The request that creates it in this group. */
  creation: { requestId: string; command: CreateErc1155 } | null;
}

export interface HoldingState {
  seq: number;
  quantity: bigint;
  reserved: bigint;
  changed: boolean;
}

export async function storePlaces(trx: Trx, collections: ReadonlyMap<string, CollectionState>): Promise<void> {
  const rows = [...collections]
    .filter(([, { taken }]) => taken > 0)
    .map(([address, { taken }]) => ({ address, taken }));
  if (rows.length === 0) return;
  await sql`
    update collections set reserved = reserved + input.taken
      from ${rowSet(trx, { address: "text", taken: "integer" }, rows)} as input
     where collections.address = input.address`.execute(trx);
}

export async function storeTokens(trx: Trx, tokens: readonly TokenState[]): Promise<void> {
  const created = tokens.flatMap(({ creation, reserved }) => {
    if (creation === null) return [];
    const { requestId, command } = creation;
    return {
      contract: command.collection,
      token_id: command.tokenId,
      request_id: requestId,
      reserved: reserved.toString(),
      token_uri: command.uri,
      metadata: command.metadata === null ? null : JSON.stringify(command.metadata),
    };
  });
  if (created.length > 0) {
    const columns = {
      contract: "text",
      token_id: "text",
      request_id: "text",
      reserved: "text",
      token_uri: "text",
      metadata: "text",
    } as const;
    await sql`
      insert into nfts (contract, token_id, request_id, supply, reserved, token_uri, metadata)
      select contract, token_id, request_id, '0', reserved, token_uri, metadata
        from ${rowSet(trx, columns, created)} as input order by ord`.execute(trx);
  }
  const changed = tokens.flatMap(({ seq, reserved, changed: is }) =>
    is && seq !== null ? [{ seq, reserved: reserved.toString() }] : [],
  );
  if (changed.length === 0) return;
  await sql`
    update nfts set reserved = input.reserved
      from ${rowSet(trx, { seq: "integer", reserved: "text" }, changed)} as input where nfts.seq = input.seq`.execute(
    trx,
  );
}

export async function storeHoldings(trx: Trx, holdings: readonly HoldingState[]): Promise<void> {
  const rows = holdings
    .filter(({ changed }) => changed)
    .map(({ seq, reserved }) => ({ seq, reserved: reserved.toString() }));
  if (rows.length === 0) return;
  await sql`
    update holdings set reserved = input.reserved
      from ${rowSet(trx, { seq: "integer", reserved: "text" }, rows)} as input
     where holdings.seq = input.seq`.execute(trx);
}
