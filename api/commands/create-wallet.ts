import { ApiError, fieldError } from "../domain/error-codes.ts";
import type { WalletDeriver } from "../keys/wallet-deriver.ts";
import { Gather } from "../shared/gather.ts";
import { mapInSlices } from "../shared/in-slices.ts";
import { hasControls, NO_CONTROLS } from "../../client/rules/storable.ts";
import { holdApps } from "../store/apps/apps.ts";
import {
  answerKey,
  findStoredAnswers,
  insertAnswers,
  type NewAnswer,
  type StoredAnswer,
} from "../store/apps/idempotency.ts";
import { insertWallets } from "../store/apps/wallets.ts";
import type { Database } from "../store/db/database.ts";
import type { Trx } from "../store/db/sql.ts";
import { AppQuotas } from "./app-quotas.ts";
import { type Credential, validCredentials } from "./credential.ts";
import { answerOfEarlierCall, type Caller, type IdempotencyDeps, newAnswerOf, replay } from "./idempotency.ts";
import { gatherCalls } from "./look-ups.ts";

interface CreateWalletDeps extends IdempotencyDeps {
  creatingWallets: WalletQueue;
}

/** A wallet that is derived and not stored yet. */
export interface NewWallet {
  address: string;
  appId: string;
  userIdentifier: string | null;
  path: string;
}

/** The app, and its name for the user; null: a wallet without a user. */
interface Owner {
  appId: string;
  userIdentifier: string | null;
}

type DerivedWallet = ReturnType<WalletDeriver["derive"]>;

interface Candidate {
  wallet: NewWallet;
  credential: Credential | null;
  answer: NewAnswer | null;
}

type Decision =
  | { kind: "created" }
  | { kind: "taken" }
  | { kind: "over-quota"; error: ApiError }
  | { kind: "repeated"; answer: StoredAnswer }
  /** The app was removed, or its token or session revoked, after the call was authenticated. */
  | { kind: "unauthorized" };

/**
 * Derives and stores the wallets of calls that arrive together, in one transaction. Create one per process and database.
 */
export class WalletQueue {
  readonly #derivations: Gather<Owner, DerivedWallet>;
  readonly #gather: Gather<Candidate, Decision>;

  constructor(database: Database, deriver: WalletDeriver) {
    // Deriving a wallet takes as long as answering a few calls, so other calls get their turn in between.
    this.#derivations = new Gather((owners) =>
      mapInSlices(owners, ({ appId, userIdentifier }) => deriver.derive(appId, userIdentifier)),
    );
    this.#gather = gatherCalls((group) => database.writeGroup((trx) => createGroup(trx, group, Date.now())));
  }

  derive(owner: Owner): Promise<DerivedWallet> {
    return this.#derivations.add(owner);
  }

  add(candidate: Candidate): Promise<Decision> {
    return this.#gather.add(candidate);
  }
}

/**
 * Calls with the same idempotency key are decided after the first of them that creates a wallet: they get its answer.
 */
async function createGroup(trx: Trx, group: readonly Candidate[], now: number): Promise<Decision[]> {
  const { mayCreate, quotas, answers } = await readGroup(trx, group, now);
  const keys = new Set<string>();
  const later: Candidate[] = [];
  const fresh: Candidate[] = [];
  const decisions = new Map<Candidate, Decision>();
  for (const candidate of group) {
    const key = candidate.answer === null ? null : answerKey(candidate.wallet.appId, candidate.answer.key);
    const earlier = key === null ? undefined : answers.get(key);
    if (!mayCreate(candidate)) {
      decisions.set(candidate, { kind: "unauthorized" });
      continue;
    }
    if (earlier !== undefined) decisions.set(candidate, { kind: "repeated", answer: earlier });
    else if (key !== null && keys.has(key)) later.push(candidate);
    else fresh.push(candidate);
    if (key !== null) keys.add(key);
  }
  const first = [...new Map(fresh.toReversed().map((candidate) => [candidate.wallet.address, candidate])).values()];
  const overQuotas = new Map<string, ApiError>();
  const unique = first.toReversed().filter((candidate) => {
    const needing = needsOf(candidate);
    const error = quotas.refusalOf(needing);
    if (error === null) quotas.add(needing);
    else overQuotas.set(candidate.wallet.address, error);
    return error === null;
  });
  const inserted = await storeWallets(
    trx,
    unique.map(({ wallet }) => wallet),
    now,
  );
  const created = unique.filter(({ wallet }) => inserted.has(wallet.address));
  // Another process may have created the wallet under the same key since the keys were read.
  const raced = await findStoredAnswers(
    trx,
    fresh.flatMap((candidate) => (created.includes(candidate) ? [] : (candidate.answer ?? []))),
  );
  await insertAnswers(
    trx,
    created.flatMap(({ answer }) => answer ?? []),
    now,
  );
  for (const candidate of fresh) {
    const { answer, wallet } = candidate;
    const error = overQuotas.get(wallet.address);
    const earlier = answer === null ? undefined : raced.get(answerKey(wallet.appId, answer.key));
    if (created.includes(candidate)) decisions.set(candidate, { kind: "created" });
    else if (error !== undefined) decisions.set(candidate, { kind: "over-quota", error });
    else decisions.set(candidate, earlier === undefined ? { kind: "taken" } : { kind: "repeated", answer: earlier });
  }
  const rest = later.length === 0 ? [] : await createGroup(trx, later, now);
  for (const [index, candidate] of later.entries()) decisions.set(candidate, rest[index] ?? { kind: "taken" });
  return group.map((candidate) => decisions.get(candidate) ?? { kind: "taken" });
}

/** What the decisions about a group depend on. Apps and quotas cannot change until the end of the transaction. */
async function readGroup(trx: Trx, group: readonly Candidate[], now: number) {
  const apps = await holdApps(
    trx,
    group.map(({ wallet }) => wallet.appId),
  );
  const valid = await validCredentials(
    trx,
    group.flatMap(({ credential }) => credential ?? []),
    now,
  );
  const quotas = await AppQuotas.lock(trx, apps, group.map(needsOf));
  const answers = await findStoredAnswers(
    trx,
    group.flatMap(({ answer }) => answer ?? []),
  );
  const mayCreate = ({ wallet, credential }: Candidate) =>
    apps.has(wallet.appId) && (credential === null || valid.has(credential.hash));
  return { mayCreate, quotas, answers };
}

function needsOf({ wallet }: Candidate) {
  return { appId: wallet.appId, needs: { wallets: 1 }, newWallet: wallet };
}

/** @returns the addresses of those that were inserted: the others exist. */
export function storeWallets(trx: Trx, wallets: readonly NewWallet[], now: number): Promise<Set<string>> {
  const rows = wallets.map((wallet) => ({
    address: wallet.address,
    app_id: wallet.appId,
    user_identifier: wallet.userIdentifier,
    path: wallet.path,
    created_at: now,
  }));
  return insertWallets(trx, rows);
}

/**
 * Creates a wallet of the app.
 * @param userIdentifier the app's name for a user; null: a wallet without a user.
 * @returns the JSON text of the answer.
 * @throws ApiError `user_identifier_taken`, `quota_exceeded`, `validation_failed`
 */
export async function createWallet(
  deps: CreateWalletDeps,
  caller: Caller,
  userIdentifier: string | null,
): Promise<string> {
  const earlier = await answerOfEarlierCall(deps, caller);
  if (earlier !== null) return earlier.json;
  await refuseControls(deps, caller, userIdentifier);
  const { address, path } = await deps.creatingWallets.derive({ appId: caller.appId, userIdentifier });
  const response = JSON.stringify({ address, user_identifier: userIdentifier });
  const wallet = { address, appId: caller.appId, userIdentifier, path };
  const decision = await deps.creatingWallets.add({
    wallet,
    credential: caller.credential,
    answer: newAnswerOf(deps, caller, response),
  });
  switch (decision.kind) {
    case "created":
      return response;
    case "repeated":
      return replay(deps.sealer, caller, decision.answer).json;
    case "unauthorized":
      throw new ApiError("unauthorized");
    case "over-quota":
      throw decision.error;
    case "taken":
      throw fieldError("user_identifier_taken", "user_identifier", "This app already has a wallet for this user.");
  }
}

/** Versions before 0.4.0 took such names. The users that exist keep them. */
async function refuseControls({ lookUps }: CreateWalletDeps, { appId }: Caller, name: string | null): Promise<void> {
  if (name === null || !hasControls(name)) return;
  const [wallet] = await lookUps.walletsOfUsers([{ appId, userIdentifier: name }]);
  if (wallet !== undefined) return;
  throw new ApiError("validation_failed", [{ field: "user_identifier", code: "invalid_format", message: NO_CONTROLS }]);
}
