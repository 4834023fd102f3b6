import { countFollowed } from "../../../../api/store/doctor/pipeline.ts";
import { checkpointOf, readMeta, writeMeta } from "../../../../api/store/db/meta.ts";
import type { Trx } from "../../../../api/store/db/sql.ts";
import { walletApps } from "../../../../api/store/apps/wallets.ts";
import { adoptContract, recordAdopted, storePast } from "../../../../api/store/ledger/adoptions.ts";
import { storedBlock } from "../../../../api/store/ledger/blocks.ts";
import {
  finishRead,
  recordSearch,
  returnRead,
  startOfRead,
  leaseReads,
  READ_WAIT,
  wantSearch,
} from "../../../../api/store/ledger/contract-reads.ts";
import {
  changeLeased,
  countMoves,
  floodingAmong,
  quarantine,
  readAllAgain,
  recordInspection,
  recordReads,
  leaseContracts,
} from "../../../../api/store/ledger/contract-states.ts";
import { findForeignContracts, followAfter, followContracts } from "../../../../api/store/ledger/follow.ts";
import {
  readEverIndexedContracts,
  readForeignContract,
  unfollowContract,
} from "../../../../api/store/ledger/indexed-contracts.ts";
import { isUncertain, markUncertain, uncertainOf } from "../../../../api/store/ledger/uncertain.ts";
import { listFollowedContracts, storedContents } from "../../../../api/store/listings/followed-contracts.ts";
import { findCollectionsOfApps } from "../../../../api/store/listings/collections.ts";
import {
  mintingOf,
  setMinting,
  stopAllMinting,
  stopMinting,
  switchMintingOff,
} from "../../../../api/store/requests/minting.ts";
import {
  adoptedCollections,
  storeRescued,
  storeRescuedCollection,
  storeRescueReport,
  tokensAfter,
  tokensNamed,
} from "../../../../api/store/requests/rescued-tokens.ts";
import { moveOf } from "../../support/rows.ts";
import { BUSY } from "../support/large-database.ts";
import { APP } from "./lane.ts";
import { NOW, type Tour } from "./tour.ts";

const [UNKNOWN, ADOPTED] = ["tour-unknown", BUSY.adopted];

/** Follows of contracts, their reads, a quarantine, and their end. */
export async function runContracts({ read, write }: Tour, held: { contract: string; owner: string }): Promise<void> {
  const { contract, owner } = held;
  const appId = BUSY.app;
  await findForeignContracts(read, appId, [contract]);
  await listFollowedContracts(read, appId, { limit: 30, offset: 0, after: null });
  await listFollowedContracts(read, appId, { limit: 30, offset: 0, after: 1 });
  await readEverIndexedContracts(read);
  await readForeignContract(read, contract);
  await walletApps(read, [owner]);
  await storedContents(read, contract, owner);
  const token = { ...held, tokenId: "9" };
  await isUncertain(read, token);
  await write((trx) => wantSearch(trx, { ...held, appId }, 0));
  await write((trx) => markUncertain(trx, [token], { block: 1, completeTo: 1 }));
  await uncertainOf(read, held, 10);
  const start = await write((trx) => startOfRead(trx));
  const confirmed = (await readMeta(read, "confirmed_block")) ?? "0";
  for (const again of [true, false]) {
    await write((trx) => readAllAgain(trx, [{ appId, contract }]));
    await write((trx) => followAfter(trx, [{ appId, contract }], { since: start.checkpoint }));
    // Once while the indexer catches up.
    const block = again ? (start.checkpoint + 1).toString() : confirmed;
    await write((trx) => writeMeta(trx, "confirmed_block", block));
    const reads = await write((trx) => leaseReads(trx, NOW, 1_000));
    const taken = reads.find((one) => one.owner === owner);
    if (taken === undefined) throw new Error("the read is due");
    if (again) await write((trx) => returnRead(trx, taken, 0, true));
    else {
      await write((trx) => recordSearch(trx, taken, ["9"], start));
      const balances = { held: [{ tokenId: "9", quantity: 1n }], block: start.checkpoint, all: true, retryAt: NOW };
      await write((trx) => finishRead(trx, taken, start, balances));
    }
  }
  await countFollowed(read);
  await quarantineAndRelease({ read, write }, contract);
  await write((trx) => unfollowContract(trx, appId, contract));
  await adopt({ read, write });
}

/** The part of the past that has the first block of an adopted contract. */
function firstMint(): Parameters<typeof storePast>[2] {
  const move = moveOf({ contract: ADOPTED, tokenId: "1", from: null, to: "wallet-1", blockNumber: 1 });
  const entries = [{ move, type: "ERC721" as const, kind: "adopted" as const, mintedBy: null }];
  return { entries, wallets: new Set(["wallet-1"]), to: 1, hash: undefined };
}

/** The past of a contract is read, it floods, and it is followed, by its app and another one. */
async function adopt({ read, write }: Pick<Tour, "read" | "write">): Promise<void> {
  const contract = {
    block: 1,
    address: ADOPTED,
    type: "ERC721",
    name: "Adopted",
    symbol: "ADO",
    owner: "",
    totalSupply: null,
  } as const;
  await write((trx) => adoptContract(trx, BUSY.app, contract, { firstBlock: 0, most: 10, now: NOW }));
  await findCollectionsOfApps(read, [{ appId: BUSY.app, address: ADOPTED }]);
  const take = async () => {
    const [leased] = await write((trx) => leaseContracts(trx, NOW + 1));
    if (leased?.address !== ADOPTED) throw new Error("the contract is due");
    return leased;
  };
  const first = await take();
  const part = await write((trx) => storePast(trx, first, firstMint(), NOW));
  if (part === null) throw new Error("the part is stored");
  await write((trx) => changeLeased(trx, part, { due_at: NOW }));
  await write((trx) => quarantine(trx, [ADOPTED], "flood", { asOf: 0, now: NOW }));
  const [released] = await write((trx) => leaseContracts(trx, NOW + 60_000));
  if (released?.state !== "quarantined") throw new Error("the quarantine is over");
  await write((trx) => recordInspection(trx, released, null, NOW));
  const last = await take();
  const to = await checkpointOf(read);
  const hash = (await storedBlock(read, to))?.hash;
  if (
    (await write((trx) => storePast(trx, last, { entries: [], wallets: new Set(), to, hash }, NOW)))?.state !==
    "followed"
  )
    throw new Error("the contract is read");
  // Of a collection with many tokens.
  const tokens = await tokensAfter(read, BUSY.collection, 0, 5);
  await tokensNamed(read, BUSY.collection, ["5"]);
  const metadata = { name: "One" };
  const rescued = tokens.map((token) => ({ ...token, metadata, json: JSON.stringify(metadata) }));
  await write((trx) => storeRescued(trx, BUSY.collection, rescued));
  await write((trx) => storeRescuedCollection(trx, ADOPTED, "{}"));
  const minting = {
    contract: ADOPTED,
    mint_function: "safeMint({to:address})",
    code_hash: "0x",
    owner: "",
    created_at: NOW,
  };
  await write((trx) => setMinting(trx, { ...minting, implementation: null, stopped: null }));
  await write((trx) => stopMinting(trx, [{ contract: ADOPTED, reason: "changed" }]));
  await write((trx) => stopAllMinting(trx, "restored"));
  await mintingOf(read, new Set([ADOPTED]));
  await write((trx) => switchMintingOff(trx, ADOPTED));
  const report = { at: NOW, finished: true, tokens: 1, served: 1, problems: [] };
  await write((trx) => storeRescueReport(trx, ADOPTED, report));
  await adoptedCollections(read, 5);
  const follow = { appId: APP, quota: 10, now: NOW, contracts: new Map([[ADOPTED, null]]) };
  await write((trx) => followContracts(trx, follow));
  await write((trx) => unfollowContract(trx, APP, ADOPTED));
  await write((trx) => recordAdopted(trx, last, { owner: "", totalSupply: "1" }, NOW));
}

async function quarantineAndRelease({ read, write }: Pick<Tour, "read" | "write">, contract: string): Promise<void> {
  const known = { type: "ERC721", name: null } as const;
  await write((trx) => recordReads(trx, { answered: [], failed: [contract] }, NOW));
  await write((trx) => recordReads(trx, { answered: [contract], failed: [] }, NOW));
  await floodingAmong(read, new Map([[contract, 5]]), { block: 1_000, limit: 4 });
  await write((trx) => countMoves(trx, new Map([[contract, 5]]), 1_000));
  await write((trx) => quarantine(trx, [contract], "flood", { asOf: 1_000, now: NOW }));
  const later = NOW + 60_000;
  const take = (trx: Trx) => leaseContracts(trx, later);
  const [released] = await write(take);
  if (released === undefined) throw new Error("the quarantine is over");
  await write((trx) => recordInspection(trx, released, undefined, later));
  await write((trx) => recordInspection(trx, { ...released, due_at: later + READ_WAIT.first }, known, later));
  const follow = { appId: BUSY.app, quota: 10, now: NOW };
  await write((trx) => followContracts(trx, { ...follow, contracts: new Map([[UNKNOWN, null]]) }));
  const [checking] = await write(take);
  if (checking === undefined) throw new Error("the contract is to be asked");
  await write((trx) => recordInspection(trx, checking, null, later));
  await write((trx) => followContracts(trx, { ...follow, contracts: new Map([[UNKNOWN, known]]) }));
}
