import { randomBytes } from "node:crypto";

import { getAddress, hexlify } from "ethers";

import type {
  CollectionMetadata,
  CollectionType,
  CreateCollection,
  Hosting,
  TokenMetadata,
} from "../../../api/domain/command.ts";
import { addToCounter, CounterDeltas, counterKeys } from "../../../api/store/db/counters.ts";
import type { Trx } from "../../../api/store/db/engine.ts";
import { writeMeta } from "../../../api/store/db/meta.ts";
import { addToHistory, type StoredMove } from "../../../api/store/ledger/history.ts";
import { HoldingSet } from "../../../api/store/ledger/holding-set.ts";
import { TokenSet } from "../../../api/store/ledger/token-set.ts";
import type { TestApi } from "./api.ts";

/* Rows that only the chain brings about, made with the same functions that the indexer uses. */

export function randomAddress(): string {
  return getAddress(hexlify(randomBytes(20)));
}

export interface CollectionOptions {
  app?: string;
  type?: CollectionType;
  hosting?: Hosting;
  name?: string;
  cap?: number | null;
  baseUri?: string | null;
  metadata?: CollectionMetadata;
  listed?: boolean;
  mayMint?: boolean;
  /** Whether the service may still announce and freeze. */
  steward?: boolean;
}

/** A collection on chain, with the completed request that made it. @returns its address. */
export async function addCollection(api: TestApi, options: CollectionOptions = {}): Promise<string> {
  const address = randomAddress();
  const app = options.app ?? api.app.id;
  const hosting = options.hosting ?? "hosted";
  const type = options.type ?? "ERC721";
  const selfHostedBase = type === "ERC721" ? "ipfs://base/" : "ipfs://base/{id}.json";
  const command: CreateCollection = {
    kind: "create-collection",
    type,
    hosting,
    name: options.name ?? "Collection",
    symbol: "COL",
    maxSupply: options.cap ?? null,
    baseUri: options.baseUri ?? (hosting === "hosted" ? null : selfHostedBase),
    collectionUri: null,
    metadata: options.metadata ?? {},
    newOwner: null,
  };
  await api.database.write(async (trx) => {
    const requestId = await addRequest(trx, app, "collection", command);
    await trx
      .insertInto("collections")
      .values({
        address,
        app_id: app,
        request_id: requestId,
        type,
        hosting,
        name: command.name,
        symbol: command.symbol,
        max_supply: command.maxSupply,
        minted: 0,
        reserved: 0,
        owner: randomAddress(),
        base_uri: command.baseUri,
        collection_uri: null,
        metadata: JSON.stringify(command.metadata),
        service_may_mint: options.mayMint === false ? 0 : 1,
        service_is_steward: options.steward === false ? 0 : 1,
        metadata_frozen: 0,
        listed: options.listed === false ? 0 : 1,
        block_number: 1,
        created_at: 1_700_000_000_000,
      })
      .execute();
    if (options.listed !== false) await addToCounter(trx, counterKeys.collections(app), 1);
  });
  return address;
}

export interface MintOptions {
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
  const sealed = options.unlockable === undefined ? null : await api.sealer.seal(options.unlockable);
  await api.database.write(async (trx) => {
    const requestId = await addRequest(trx, options.app ?? api.app.id, "mint", {}, sealed);
    const mint = { ...moveOf(options.contract, options.tokenId ?? 1, null, options.to, options), requestId };
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
    const stored = { ...moveOf(move.contract, move.tokenId, move.from, move.to, move), requestId: null };
    if (move.to === null) {
      const tokens = await TokenSet.read(trx, [stored]);
      tokens.burn(stored);
      await tokens.store(trx, counters);
    }
    await store(trx, stored, counters);
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

let logs = 0;

function moveOf(
  contract: string,
  tokenId: bigint | number,
  from: string | null,
  to: string | null,
  options: { quantity?: bigint | number; block?: number },
): Omit<StoredMove, "requestId"> {
  logs += 1;
  return {
    contract,
    tokenId: tokenId.toString(),
    quantity: (options.quantity ?? 1).toString(),
    from,
    to,
    transactionHash: hexlify(randomBytes(32)),
    blockNumber: options.block ?? 1,
    logIndex: logs,
    subIndex: 0,
    timestamp: 1_700_000_000_000 + logs,
  };
}

/** A completed request, as the pipeline leaves it. */
async function addRequest(
  trx: Trx,
  app: string,
  type: "collection" | "mint",
  command: object,
  unlockable: string | null = null,
): Promise<string> {
  const id = randomBytes(32).toString("hex");
  await trx
    .insertInto("requests")
    .values({
      id,
      app_id: app,
      type,
      status: "completed",
      command: JSON.stringify(command),
      unlockable,
      returns: 0,
      created_at: 1,
      updated_at: 1,
    })
    .execute();
  await addToCounter(trx, counterKeys.requests(app, "completed", type), 1);
  return id;
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
