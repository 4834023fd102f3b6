import { randomBytes } from "node:crypto";

import type { CollectionMetadata, CollectionType, Hosting, TokenMetadata } from "../../../api/domain/command.ts";
import { sealedPlace } from "../../../api/keys/sealer.ts";
import { addToCounter, CounterDeltas, counterKeys } from "../../../api/store/db/counters.ts";
import type { Trx } from "../../../api/store/db/sql.ts";
import { writeMeta } from "../../../api/store/db/meta.ts";
import { addToHistory, type StoredMove } from "../../../api/store/ledger/history.ts";
import { HoldingSet } from "../../../api/store/ledger/holding-set.ts";
import { TokenSet } from "../../../api/store/ledger/token-set.ts";
import type { TestApi } from "./api.ts";
import { addCollection as addCollectionRow, moveOf } from "./rows.ts";

/* Rows that only the chain brings about, made with the same functions that the indexer uses. */

interface CollectionOptions {
  app?: string;
  type?: CollectionType;
  hosting?: Hosting;
  name?: string;
  symbol?: string;
  cap?: number | null;
  baseUri?: string | null;
  metadata?: CollectionMetadata;
  soulbound?: boolean;
  listed?: boolean;
  mayMint?: boolean;
  /** Whether the service may still announce and freeze. */
  steward?: boolean;
  /** Whether it has `burnWithAuthorization`. */
  signedBurns?: boolean;
}

/** A collection on chain, with the completed request that created it. @returns its address. */
export function addCollection(api: TestApi, options: CollectionOptions = {}): Promise<string> {
  const {
    app = api.app.id,
    type = "ERC721",
    hosting = "hosted",
    listed = true,
    mayMint = true,
    steward = true,
    signedBurns = true,
  } = options;
  const selfHostedBase = type === "ERC721" ? "ipfs://base/" : "ipfs://base/{id}.json";
  const fields = {
    type,
    hosting,
    name: options.name ?? "Collection",
    symbol: options.symbol ?? "COL",
    maxSupply: options.cap ?? null,
    baseUri: options.baseUri ?? (hosting === "hosted" ? null : selfHostedBase),
    metadata: options.metadata ?? {},
    soulbound: options.soulbound ?? false,
  };
  return addCollectionRow(api.database, fields, { app, listed, mayMint, steward, signedBurns, block: 1 });
}

interface MintOptions {
  contract: string;
  to: string;
  tokenId?: bigint | number;
  quantity?: bigint | number;
  type?: CollectionType;
  metadata?: TokenMetadata | null;
  tokenUri?: string | null;
  /** Sealed as the API would. */
  unlockable?: string;
  app?: string;
  block?: number;
}

/** A mint seen on chain. */
export async function addMint(api: TestApi, options: MintOptions): Promise<void> {
  const type = options.type ?? "ERC721";
  const requestId = randomBytes(32).toString("hex");
  const { unlockable } = options;
  const sealed =
    unlockable === undefined ? null : await api.sealer.seal(unlockable, sealedPlace("unlockable", requestId));
  await api.database.write(async (trx) => {
    await addMintRequest(trx, { id: requestId, app: options.app ?? api.app.id, unlockable: sealed });
    const mint = { ...transferOf({ ...options, tokenId: options.tokenId ?? 1, from: null }), requestId };
    const counters = new CounterDeltas();
    const content = {
      metadata: options.metadata === undefined ? {} : options.metadata,
      tokenUri: options.tokenUri ?? null,
    };
    const tokens = await TokenSet.read(trx, [mint]);
    tokens.mint(mint, type, content);
    await tokens.store(trx, counters);
    await store(trx, mint, counters);
  });
}

/** A movement seen on chain that no request made; a burn when there is no destination. */
export async function addMove(
  api: TestApi,
  move: {
    contract: string;
    tokenId: bigint | number;
    from: string;
    to: string | null;
    quantity?: bigint | number;
    block?: number;
  },
): Promise<void> {
  await api.database.write(async (trx) => {
    const counters = new CounterDeltas();
    const stored = transferOf(move);
    if (move.to === null) {
      const tokens = await TokenSet.read(trx, [stored]);
      tokens.burn(stored);
      await tokens.store(trx, counters);
    }
    await store(trx, stored, counters);
  });
}

function transferOf(fields: {
  contract: string;
  tokenId: bigint | number;
  from: string | null;
  to: string | null;
  quantity?: bigint | number;
  block?: number;
}): StoredMove {
  const { contract, from, to } = fields;
  return moveOf({
    contract,
    from,
    to,
    tokenId: fields.tokenId.toString(),
    quantity: (fields.quantity ?? 1).toString(),
    blockNumber: fields.block ?? 1,
    timestamp: 1_700_000_000_000,
  });
}

async function store(trx: Trx, move: StoredMove, counters: CounterDeltas): Promise<void> {
  const { contract, tokenId } = move;
  const ends = [move.from, move.to].flatMap((owner) => (owner === null ? [] : [{ contract, tokenId, owner }]));
  const holdings = await HoldingSet.read(trx, ends);
  holdings.move(move, move.blockNumber);
  await holdings.store(trx, counters);
  const wallets = await trx.selectFrom("wallets").select("address").execute();
  await addToHistory(trx, [move], new Set(wallets.map((row) => row.address)), counters);
  await counters.flush(trx);
}

/** A completed mint request, as the pipeline leaves it. */
async function addMintRequest(
  trx: Trx,
  { id, app, unlockable }: { id: string; app: string; unlockable: string | null },
): Promise<void> {
  await trx
    .insertInto("requests")
    .values({
      id,
      app_id: app,
      type: "mint",
      status: "completed",
      command: "{}",
      unlockable,
      returns: 0,
      created_at: 1,
      updated_at: 1,
    })
    .execute();
  await addToCounter(trx, counterKeys.requests(app, "completed", "mint"), 1);
}

/** Says up to which block everything is final. */
export function confirmUpTo(api: TestApi, block: number): Promise<void> {
  return api.database.write((trx) => writeMeta(trx, "confirmed_block", block.toString()));
}

/** A wallet of the app, made over HTTP. @returns its address. */
export async function addWallet(api: TestApi, token?: string): Promise<string> {
  const answer = await api.post("/v1/accounts", {}, token === undefined ? {} : { token });
  return answer.body.address ?? "";
}
