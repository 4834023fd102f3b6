import { randomBytes } from "node:crypto";

import type { Adoptables, Permission, TypedText } from "../chain/adoptable.ts";
import type { AdoptableContract } from "../domain/followed-contract.ts";
import { ChainUnavailable, RpcError } from "../chain/errors.ts";
import { FOREIGN_READ_SECONDS, LONGEST_PERMISSION } from "../config/limits.ts";
import { type ApiError, fieldError } from "../domain/error-codes.ts";
import { pause } from "../shared/pause.ts";
import type { Database } from "../store/db/database.ts";
import type { Db } from "../store/db/sql.ts";
import { adoptContract } from "../store/ledger/adoptions.ts";
import { findCollectionsOfApps, type StoredCollection } from "../store/listings/collections.ts";
import { tooManyContracts } from "./follow-contents.ts";
import { chainUnavailable } from "./foreign-tokens.ts";

export interface AdoptDeps {
  database: Database;
  adoptables: Adoptables;
  /** Notified when a contract must be read. */
  signals: { contracts: { notify(): void } };
  settings: { limits: { contracts: number } };
}

/** What a call names. */
export interface AdoptOrder {
  address: string;
  /** No earlier block has logs of the contract; null: the chain is asked. */
  fromBlock: number | null;
}

/** A permission, and who has signed it; `signer` null: the owner of the contract. */
export interface Signed extends Pick<Permission, "nonce" | "expiry"> {
  signer: string | null;
  signature: string;
}

/** The same answer for every address that cannot be adopted: an app must not learn what others have. */
const REFUSED =
  "Must be the address of an ERC721 or ERC1155 contract that this service has not deployed, and that no app has adopted.";

/**
 * The text that the owner of a contract signs, so that the app may adopt it.
 * @throws ApiError `contract_not_supported`
 */
export function textToSign({ adoptables }: Pick<AdoptDeps, "adoptables">, appId: string, address: string): TypedText {
  if (adoptables.isOwn(address)) throw refused();
  const expiry = Math.floor(Date.now() / 1_000) + LONGEST_PERMISSION;
  return adoptables.text({ contract: address, app: appId, nonce: `0x${randomBytes(32).toString("hex")}`, expiry });
}

/**
 * Makes a contract that another party has deployed a collection of the app. Its tokens, holders and history are read in the
 * background. Idempotent.
 * @param signed null: the operator allows it.
 * @throws ApiError `contract_not_supported`, `adoption_not_permitted`, `too_many_contracts`, `validation_failed`, `unavailable`
 */
export async function adoptCollection(
  deps: AdoptDeps,
  appId: string,
  { address, fromBlock }: AdoptOrder,
  signed: Signed | null,
): Promise<StoredCollection> {
  const { database, adoptables, signals, settings } = deps;
  const find = async () => (await findCollectionsOfApps(database.read, [{ appId, address }]))[0];
  const earlier = await find();
  if (earlier?.adopted === 1) return earlier;
  if (earlier !== undefined || adoptables.isOwn(address)) throw refused();
  const { contract, firstBlock } = await inspect(adoptables, appId, { address, fromBlock }, signed);
  const most = settings.limits.contracts;
  const done = await database.write((trx) =>
    adoptContract(trx, appId, { address, ...contract }, { firstBlock, most, now: Date.now() }),
  );
  if (done === "too_many") throw tooManyContracts(most, "address");
  const adopted = await find();
  if (done === "taken" || adopted === undefined) throw refused();
  signals.contracts.notify();
  return adopted;
}

/** Milliseconds between two looks at collections that are read. */
const POLL = 500;

/**
 * Waits until the service has read what an app has adopted, or the time is over.
 * @param watch gets the collections at each look. @returns them as they are in the end.
 */
export async function untilRead(
  db: Db,
  calls: readonly { appId: string; address: string }[],
  seconds: number,
  watch: (collections: readonly StoredCollection[]) => void,
): Promise<StoredCollection[]> {
  const end = performance.now() + seconds * 1_000;
  for (;;) {
    const collections = (await findCollectionsOfApps(db, calls)).flatMap((one) => one ?? []);
    watch(collections);
    if (collections.every(isRead) || performance.now() >= end) return collections;
    await pause(POLL);
  }
}

export function isRead({ adoption }: StoredCollection): boolean {
  return adoption?.state === "followed";
}

/** Asks the contract and its owner, within a limited time. @throws ApiError */
async function inspect(
  adoptables: Adoptables,
  appId: string,
  { address, fromBlock }: AdoptOrder,
  signed: Signed | null,
): Promise<{ contract: AdoptableContract; firstBlock: number }> {
  const abort = AbortSignal.timeout(FOREIGN_READ_SECONDS * 1_000);
  try {
    const contract = await adoptables.describe(address, abort);
    if (contract === null) throw refused();
    if (signed !== null)
      await requirePermission(adoptables, { contract: address, app: appId }, contract.owner, signed, abort);
    if (fromBlock !== null && fromBlock > contract.block)
      throw fieldError(
        "validation_failed",
        "from_block",
        `Must not be above the newest block, ${contract.block.toString()}.`,
      );
    return { contract, firstBlock: fromBlock ?? (await adoptables.firstBlock(address, abort)) };
  } catch (error) {
    if (error instanceof ChainUnavailable) throw chainUnavailable(error);
    if (error instanceof RpcError) throw chainUnavailable(null);
    throw error;
  }
}

/** Checks that the owner of a contract, or its admin, permits the app to adopt it. @throws ApiError `adoption_not_permitted` */
export async function requirePermission(
  adoptables: Adoptables,
  subject: Pick<Permission, "contract" | "app">,
  owner: string,
  { nonce, expiry, signer, signature }: Signed,
  abort: AbortSignal,
): Promise<void> {
  const now = Date.now() / 1_000;
  if (expiry <= now || expiry > now + LONGEST_PERMISSION + 60)
    throw fieldError(
      "adoption_not_permitted",
      "expiry",
      "The permission has expired, or is valid for more than a week.",
    );
  const permission = { ...subject, nonce, expiry };
  if (await adoptables.isPermitted({ owner, permission }, { signer: signer ?? owner, signature }, abort)) return;
  const message =
    "Must be the signature of the text by the contract's `owner()`, or by an account with its role DEFAULT_ADMIN_ROLE; name that account in `signer`.";
  throw fieldError("adoption_not_permitted", "signature", message);
}

function refused(): ApiError {
  return fieldError("contract_not_supported", "address", REFUSED);
}
