import { z } from "zod";

import type { Command } from "../../../../api/domain/command.ts";
import type { ChainOutcome } from "../../../../api/domain/request.ts";
import { insertApp } from "../../../../api/store/apps/apps.ts";
import { writeContracts, readContracts, readMeta, writeMeta } from "../../../../api/store/db/meta.ts";
import type { Trx } from "../../../../api/store/db/sql.ts";
import { announceInclusions, type SliceToStore, storeHistoryPart } from "../../../../api/store/ledger/apply-range.ts";
import { firstUnsettled, isAnythingUndecided, newestBlocks } from "../../../../api/store/ledger/blocks.ts";
import { followContracts, recordForeignHoldings } from "../../../../api/store/ledger/follow.ts";
import { removeHidden } from "../../../../api/store/ledger/hidden-history.ts";
import { rollback, rollbackStep } from "../../../../api/store/ledger/rollback.ts";
import { StrangerWindows } from "../../../../api/store/ledger/stranger-windows.ts";
import { correctTokenEvents, makeTokenEvents } from "../../../../api/store/ledger/token-events.ts";
import {
  foreignChangesSince,
  noteForeignChange,
  readIndexedContracts,
} from "../../../../api/store/ledger/indexed-contracts.ts";
import { insertWebhook } from "../../../../api/store/outbox/webhooks.ts";
import {
  hasUnsettledMints,
  hostedTokens,
  isMetadataOpen,
  startFreezing,
} from "../../../../api/store/requests/freezing.ts";
import { replaceCollectionMetadata, replaceTokenMetadata } from "../../../../api/store/requests/metadata.ts";
import { requestsByNumber } from "../../../../api/store/requests/requests.ts";
import { ReservationSet } from "../../../../api/store/requests/reservation-set.ts";
import { markRetried } from "../../../../api/store/requests/request-state.ts";
import { settleFinal } from "../../../../api/store/requests/settle-final.ts";
import { findCollection } from "../../../../api/store/listings/collections.ts";
import { findMintedNft } from "../../../../api/store/listings/nfts.ts";
import { applyAndSettle } from "../../support/blocks.ts";
import { type RangeFields, rangeOf } from "../../support/ranges.ts";
import { creation, entryOf } from "../../support/rows.ts";
import { BUSY, LARGE } from "../support/large-database.ts";
import { runContracts } from "./contracts.ts";
import { accept, APP, mined, type Sent, send } from "./lane.ts";
import { runSending } from "./sending.ts";
import { firstPages, NOW, type Tour } from "./tour.ts";

const TOKENS = "tour-erc721";
const COPIES = "tour-erc1155";
const FOREIGN = "tour-foreign";
const [ALICE, BOB] = ["wallet-1", "wallet-2"];

/** Requests of every kind, from their calls to their outcomes, through reorgs. */
export async function runPipeline(tour: Tour): Promise<void> {
  await setUp(tour);
  await createCollections(tour);
  const mints = await mintTokens(tour);
  await moveTokens(tour, mints);
  await readTokens(tour);
  await runSending(tour, TOKENS);
}

async function setUp({ read, write }: Tour): Promise<void> {
  await write((trx) => insertApp(trx, { id: APP, name: APP, created_at: 1 }));
  const webhook = { id: APP, app_id: APP, url: "https://tour.example/", secrets: "sealed", events: null };
  const more = { collections: null, description: null, disabled_at: null, created_at: 1, updated_at: 1 };
  await write((trx) => insertWebhook(trx, { ...webhook, ...more }));
  await write((trx) => writeMeta(trx, "checkpoint", LARGE.toString()));
  await write((trx) => writeContracts(trx, {}));
  await readContracts(read, z.unknown());
  await readMeta(read, "checkpoint");
  const known = { type: "ERC721", name: null } as const;
  // The service does not know yet that this contract will be its own collection.
  const contracts = new Map([TOKENS, FOREIGN].map((address) => [address, known]));
  await write((trx) => followContracts(trx, { appId: BUSY.app, contracts, quota: 10, now: NOW }));
  const holding = { contract: TOKENS, tokenId: "1", owner: ALICE, quantity: "1" };
  await write((trx) => recordForeignHoldings(trx, [holding], LARGE));
}

async function store({ write }: Tour, range: RangeFields): Promise<void> {
  const stored = await write((trx) => applyAndSettle(trx, range, NOW));
  if (!stored) throw new Error(`block ${range.block.toString()} was not stored`);
}

/** The history of the block before the rest. The process ends in between, and another one begins again. */
async function storeInParts(tour: Tour, range: RangeFields): Promise<void> {
  const prepared = rangeOf(range);
  const part = (trx: Trx) => storeHistoryPart(trx, prepared, prepared.entries, null);
  await tour.write(part);
  await tour.write((trx) => removeHidden(trx));
  await store(tour, { ...range, historyFrom: (await tour.write(part)) ?? 0 });
}

async function createCollections(tour: Tour): Promise<void> {
  await accept(tour, [creation(), creation({ type: "ERC1155" })]);
  const made = (command: Command): ChainOutcome => ({
    ok: true,
    collection: command.kind === "create-collection" && command.type === "ERC721" ? TOKENS : COPIES,
    tokenId: null,
  });
  const block = LARGE + 1;
  await store(tour, { block, batches: [mined(await send(tour), block, made)], confirmed: block });
}

/** Mints, whose block a reorg drops once. */
async function mintTokens(tour: Tour): Promise<Sent> {
  const metadata = { name: "minted", attributes: [{ trait_type: "fur", value: "red" }] };
  await accept(tour, [
    { kind: "mint-erc721", collection: TOKENS, to: ALICE, metadata },
    { kind: "create-erc1155", collection: COPIES, to: ALICE, tokenId: "5", quantity: "10", uri: null, metadata },
    { kind: "announce-metadata", collection: TOKENS, tokenId: null },
  ]);
  const sent = await send(tour);
  const block = LARGE + 2;
  const outcomeOf = (command: Command): ChainOutcome | null => {
    if (command.kind === "announce-metadata") return { ok: true, collection: null, tokenId: null };
    if (command.kind === "mint-erc721") return { ok: true, collection: TOKENS, tokenId: "1" };
    return { ok: true, collection: COPIES, tokenId: "5" };
  };
  const requestOf = (kind: Command["kind"]) => sent.requests.find(({ command }) => command.kind === kind) ?? null;
  const where = { blockNumber: block, transactionHash: sent.hash, from: null, to: ALICE };
  const entries: SliceToStore["entries"] = (
    [
      ["mint-erc721", "ERC721", TOKENS, "1", "1"],
      ["create-erc1155", "ERC1155", COPIES, "5", "10"],
    ] as const
  ).map(([kind, type, contract, tokenId, quantity]) => {
    const mintedBy = requestOf(kind);
    return entryOf(type, { contract, tokenId, quantity, requestId: mintedBy?.id ?? null, ...where }, { mintedBy });
  });
  const range = { block, batches: [mined(sent, block, outcomeOf)], entries, wallets: new Set([ALICE]) };
  await store(tour, { ...range, confirmed: block - 1 });
  await tour.write((trx) => rollback(trx, block - 1));
  await store(tour, { ...range, confirmed: block - 1 });
  await tour.write((trx) => announceInclusions(trx, rangeOf(range), NOW));
  await tour.write((trx) => writeMeta(trx, "token_events_to", (block - 1).toString()));
  await tour.write((trx) => settleFinal(trx, { confirmed: block, failuresUpTo: block }, NOW));
  await makeEvents(tour, block);
  const [final] = sent.requests;
  if (final !== undefined) await tour.write((trx) => markRetried(trx, final.id, "again"));
  return sent;
}

/** Events of what was minted, which a deep reorg corrects. One more is of a movement by strangers, which are too many. */
async function makeEvents({ write }: Tour, block: number): Promise<void> {
  const make = () => write((trx) => makeTokenEvents(trx, { deep: block, mostStrangers: 1 }, NOW));
  await make();
  await write((trx) => correctTokenEvents(trx, block - 1, NOW));
  await make();
  const event = {
    ...{ body: { id: "an event" }, appId: BUSY.app, requestId: null, type: "token.transferred" as const },
    ...{ subject: null, collection: TOKENS, blockNumber: block, corrects: null },
  };
  await write(async (trx) => {
    const strangers = await StrangerWindows.read(trx, [{ event, block, byStrangers: true }], 0);
    strangers.admit({ event, block, byStrangers: true }, 0);
    await strangers.close(trx, block, NOW);
  });
}

/** Everything else that a block can contain. A reorg drops this block, too. */
async function moveTokens(tour: Tour, mints: Sent): Promise<void> {
  const to = BOB;
  const transfer = { kind: "transfer", foreign: false, from: ALICE, to } as const;
  await tour.write((trx) => startFreezing(trx, TOKENS));
  await accept(tour, [
    { kind: "mint-erc1155", collection: COPIES, to, tokenId: "5", quantity: "3" },
    { ...transfer, contract: COPIES, contractType: "ERC1155", tokenId: "5", quantity: "3" },
    { ...transfer, contract: TOKENS, contractType: "ERC721", tokenId: "1", quantity: "1" },
    { kind: "freeze-metadata", collection: TOKENS, type: "ERC721", directory: null },
    { kind: "create-erc1155", collection: COPIES, to, tokenId: "6", quantity: "1", uri: null, metadata: null },
    { kind: "announce-metadata", collection: COPIES, tokenId: null },
  ]);
  const sent = await send(tour);
  const block = LARGE + 3;
  const failed = { ok: false, errorCode: "execution_reverted", errors: null } as const;
  const outcomeOf = ({ kind }: Command): ChainOutcome | null => {
    if (kind === "announce-metadata") return null;
    return kind === "freeze-metadata" || kind === "create-erc1155"
      ? failed
      : { ok: true, collection: null, tokenId: null };
  };
  // A reorg deeper than CONFIRMATIONS made the mints run again, with another id.
  const again = mined(mints, block, ({ kind }) =>
    kind === "mint-erc721" ? { ok: true, collection: TOKENS, tokenId: "2" } : failed,
  );
  const range = { ...movements(block, sent.hash), batches: [mined(sent, block, outcomeOf), again] };
  await storeInParts(tour, { ...range, confirmed: block - 1 });
  await rollbackStep(tour.read, block - 1, block);
  await tour.write((trx) => rollback(trx, block - 1));
  const [first] = sent.requests;
  const cancelled = await requestsByNumber(tour.read, first === undefined ? [] : [first.number]);
  const where = { transactionHash: "cancelled", blockNumber: block };
  await store(tour, { ...range, cancelled: cancelled.map((request) => ({ request, ...where })), confirmed: block });
}

/** What the block says besides the outcomes of the requests. */
function movements(block: number, transactionHash: string): RangeFields {
  const where = { blockNumber: block, transactionHash };
  const copies = { contract: COPIES, tokenId: "5", ...where };
  const foreign = { contract: FOREIGN, tokenId: "1" };
  return {
    block,
    entries: [
      entryOf("ERC1155", { ...copies, from: null, to: BOB, quantity: "3" }),
      entryOf("ERC1155", { ...copies, from: ALICE, to: BOB, quantity: "3" }),
      entryOf("ERC1155", { ...copies, from: BOB, to: null, quantity: "1" }),
      entryOf("ERC721", { contract: TOKENS, tokenId: "1", ...where, from: ALICE, to: BOB }),
      entryOf("ERC721", { ...foreign, ...where, from: ALICE, to: BOB }, { kind: "foreign" }),
    ],
    edits: [
      { contract: TOKENS, tokenId: null, column: "owner", value: "another", blockNumber: block },
      { contract: COPIES, tokenId: "5", column: "token_uri", value: "ipfs://other", blockNumber: block },
    ],
    unknownTransaction: null,
    foreignHoldings: [
      { ...foreign, owner: BOB, quantity: 1n },
      { ...foreign, owner: ALICE, quantity: null },
    ],
    wallets: new Set([ALICE, BOB]),
  };
}

async function readTokens(tour: Tour): Promise<void> {
  const { read, write } = tour;
  for (const collection of [TOKENS, BUSY.collection]) await hasUnsettledMints(read, collection);
  await isMetadataOpen(read, TOKENS);
  await firstPages(hostedTokens(read, BUSY.collection), 600);
  const collection = await findCollection(read, TOKENS);
  const token = await findMintedNft(read, COPIES, "5");
  if (collection === undefined || token === undefined) throw new Error("both were made");
  await write((trx) => replaceCollectionMetadata(trx, collection, { description: "new" }));
  await write((trx) => replaceTokenMetadata(trx, token, { name: "new" }));
  const refused = { kind: "transfer", contract: BUSY.collection, contractType: "ERC721", foreign: false } as const;
  const ends = { from: "nobody", to: BOB, tokenId: "7", quantity: "1" };
  await write((trx) => ReservationSet.read(trx, [{ ...refused, ...ends }]));
  await newestBlocks(read, 10, LARGE + 3);
  await firstUnsettled(read, LARGE);
  await isAnythingUndecided(read);
  const indexed = await readIndexedContracts(read);
  await write((trx) => noteForeignChange(trx));
  await foreignChangesSince(read, indexed);
  await runContracts(tour, { contract: FOREIGN, owner: ALICE });
}
