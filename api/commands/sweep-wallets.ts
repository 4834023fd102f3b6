import { type ApiError, ERRORS } from "../domain/error-codes.ts";
import { isFinal } from "../domain/request.ts";
import type { HoldingKey } from "../domain/token.ts";
import { forEachAtOnce, inPages } from "../shared/at-once.ts";
import { pause } from "../shared/pause.ts";
import { findWallets, type NewWallet, setUserIdentifiers, walletsAt } from "../store/apps/wallets.ts";
import { counterKeys, readCounters } from "../store/db/counters.ts";
import { isInsertedMeanwhile } from "../store/db/errors.ts";
import { checkpointOf } from "../store/db/meta.ts";
import type { Page } from "../store/db/pages.ts";
import type { WalletRow } from "../store/db/schema.ts";
import { lockLedger } from "../store/db/sql.ts";
import { type HeldNft, heldAmong, listContents } from "../store/listings/holdings.ts";
import type { CommandContext } from "./context.ts";
import { together } from "./look-ups.ts";
import { isError } from "./or-error.ts";
import { checkMoves, transfer } from "./transfer.ts";

/** Tokens of a contract that move, or that stay for the same reason. */
export interface TokenGroup {
  /** null: all contracts. */
  contract_address: string | null;
  /** An `error_code`, or one of those below; null: they move. */
  reason: string | null;
  message: string | null;
  tokens: number;
  /** Where the first one is. */
  old_wallet: string;
  token_id: string | null;
  /** Of the first one; null: none was accepted. */
  request_id: string | null;
}

/** An imported wallet, and what became of it. Tokens count once each, however many copies there are. */
export interface Swept {
  user_identifier: string | null;
  old_wallet: string;
  new_wallet: string;
  before: number;
  moved: number;
  left: number;
  /** Whether the new wallet has the user now. */
  user_moved: boolean;
}

export interface Sweep {
  context: CommandContext;
  appId: string;
  /** The new wallet of an old one: always the same, so a repeated command goes on with it. */
  deriveNew: (oldWallet: string) => Pick<NewWallet, "address" | "path">;
  /** Milliseconds in which a token has to move. */
  patience: number;
  /** Called for each token that has left its wallet. */
  onMoved: () => void;
}

type Wallets = AsyncIterable<WalletRow> | Iterable<WalletRow>;
type Token = Pick<HeldNft, "contract" | "tokenId" | "quantity">;
type Why = Pick<TokenGroup, "reason" | "message" | "request_id">;

const MOVES = why(null, null);
const ADDRESS_TAKEN = why("address_taken", "Another wallet has the new wallet's address.");
const OTHER_USER = why(
  "has_another_user",
  "The new wallet has a user already. Rename it to none, or move the tokens by requests of your own.",
);
const ARRIVED = why("arrived", "Tokens arrived, or came back, while the command ran. Run it again.");
const PENDING = why("pending", "Its request goes on. Run the command again.");

/** Wallets that are swept at a time. Their tokens are in memory only while they move. */
const WALLETS = 1_000;
/** Tokens that one statement reads, and requests that are under way at a time. */
const PAGE = 250;
/** A contract that gives a token back each time must not keep the command for ever. */
const MOST_ROUNDS = 5;
/** Milliseconds between two looks at a request. Looks at the same moment share a statement. */
const LOOK_EVERY = 250;

/** What a sweep would do now, by the rules that decide transfers. Nothing is changed. */
export async function planSweep(sweep: Sweep, wallets: Wallets): Promise<{ wallets: number; groups: TokenGroup[] }> {
  const { context, appId } = sweep;
  const plan = new TokenGroups();
  let count = 0;
  for await (const part of inPages(wallets, WALLETS)) {
    const sources = await sourcesOf(sweep, part, plan);
    count += sources.length;
    for await (const page of inPages(tokensOf(context, sources), PAGE)) {
      const moves = page.map(({ source, token }) => moveOf(source, token));
      const { items } = await checkMoves(context, appId, "transfer", moves);
      for (const [index, { source, token }] of page.entries()) {
        const item = items[index];
        plan.add(source, token, isError(item) ? whyOf(item) : MOVES);
      }
    }
  }
  return { wallets: count, groups: plan.all() };
}

/** Moves the tokens of imported wallets of an app, and then their users, to new wallets. @returns those with something to move. */
export async function sweepWallets(sweep: Sweep, wallets: Wallets): Promise<{ swept: Swept[]; left: TokenGroup[] }> {
  const swept: Swept[] = [];
  const left = new TokenGroups();
  for await (const part of inPages(wallets, WALLETS)) {
    const sources = await sourcesOf(sweep, part, left);
    await forEachAtOnce(sources, PAGE, (source) => create(sweep, source, left));
    await moveTokens(sweep, sources, left);
    await moveUsers(sweep, sources);
    for (const source of sources) {
      const more = source.result.left - source.known;
      if (more > 0) left.add(source, null, ARRIVED, more);
      swept.push(source.result);
    }
  }
  return { swept, left: left.all() };
}

/** An imported wallet while it is swept. */
interface Source {
  result: Swept;
  /** The new wallet, and whether it is stored. */
  fresh: Pick<NewWallet, "address" | "path">;
  exists: boolean;
  /** Nothing of it may move. */
  isRefused: boolean;
  /** Tokens that stay for a known reason. */
  known: number;
}

/** As many as the app has contracts, for each reason. */
class TokenGroups {
  readonly #groups = new Map<string, TokenGroup>();

  /** @param token the first one; null: of the whole wallet. */
  add(source: Source, token: Token | null, why: Why, tokens = 1): void {
    const { contract: contract_address, tokenId: token_id } = token ?? { contract: null, tokenId: null };
    const place = `${contract_address ?? ""} ${why.reason ?? ""}`;
    const { old_wallet } = source.result;
    const group = this.#groups.get(place) ?? { contract_address, token_id, old_wallet, ...why, tokens: 0 };
    this.#groups.set(place, group);
    group.tokens += tokens;
    source.known += tokens;
  }

  refuse(source: Source, why: Why): void {
    source.isRefused = true;
    this.add(source, null, why, source.result.before);
  }

  all(): TokenGroup[] {
    return [...this.#groups.values()];
  }
}

/** The wallets that have tokens or users. */
async function sourcesOf(sweep: Sweep, wallets: readonly WalletRow[], refused: TokenGroups): Promise<Source[]> {
  const { read } = sweep.context.database;
  const keyOfWallet = ({ address }: WalletRow) => counterKeys.holdings(address);
  const held = await readCounters(read, wallets.map(keyOfWallet));
  const sources = wallets.flatMap((wallet): Source[] => {
    const before = held.get(keyOfWallet(wallet)) ?? 0;
    const { address: old_wallet, user_identifier } = wallet;
    if (before === 0 && user_identifier === null) return [];
    const fresh = sweep.deriveNew(old_wallet);
    const names = { user_identifier, old_wallet, new_wallet: fresh.address };
    const result = { ...names, before, moved: 0, left: before, user_moved: false };
    return [{ result, fresh, exists: false, isRefused: false, known: 0 }];
  });
  await lookAtNew(sweep, sources, refused);
  return sources;
}

async function lookAtNew({ context, appId }: Sweep, sources: readonly Source[], refused: TokenGroups): Promise<void> {
  const places = sources.map(({ fresh }) => fresh);
  const stored = await walletsAt(context.database.read, places);
  for (const source of sources) {
    const wallet = stored.get(source.fresh.address);
    if (wallet === undefined) continue;
    source.exists = true;
    const isOther = wallet.app_id !== appId || wallet.path !== source.fresh.path;
    const bothHaveUsers = source.result.user_identifier !== null && wallet.user_identifier !== null;
    if (isOther) refused.refuse(source, ADDRESS_TAKEN);
    else if (bothHaveUsers) refused.refuse(source, OTHER_USER);
  }
}

/** Makes the new wallet, if it is not there. */
async function create(sweep: Sweep, source: Source, refused: TokenGroups): Promise<void> {
  if (source.exists) return;
  const caller = { appId: sweep.appId, credential: null, idempotency: null };
  const wallet = { appId: sweep.appId, userIdentifier: null, ...source.fresh };
  try {
    await sweep.context.acceptQueue.decide({ caller, key: null, items: [], isBatch: false, wallet });
  } catch (error) {
    if (isError(error)) refused.refuse(source, whyOf(error));
    // Another run of the command.
    else if (isInsertedMeanwhile(error)) await lookAtNew(sweep, [source], refused);
    else throw error;
  }
}

/** In rounds: tokens may arrive meanwhile. */
async function moveTokens(sweep: Sweep, sources: readonly Source[], left: TokenGroups): Promise<void> {
  const { read } = sweep.context.database;
  // Tokens that are looked at together share a statement.
  const areHere = together(async (keys: readonly HoldingKey[]) => {
    const held = new Set(await heldAmong(read, keys));
    return keys.map((key) => held.has(key));
  });
  let [since, tried] = [-1, true];
  for (let round = 1; tried && round <= MOST_ROUNDS; round++) {
    tried = false;
    const checkpoint = await checkpointOf(read);
    await forEachAtOnce(tokensOf(sweep.context, sources, since), PAGE, async ({ source, token }) => {
      tried = true;
      const why = await move(sweep, source, token);
      const { contract, tokenId } = token;
      const [isHere] = await areHere([{ owner: source.result.old_wallet, contract, tokenId }]);
      // It is here without a reason: further copies arrived. It is not here, with a reason: somebody else moved it.
      if (isHere === true && why !== null) left.add(source, token, why);
      if (isHere === true || why !== null) return;
      source.result.moved++;
      sweep.onMoved();
    });
    since = checkpoint;
  }
}

/**
 * The tokens that the wallets have now, without what arrives while they are read.
 * @param since only those whose quantity has changed after this block, so what stays is not tried again.
 */
async function* tokensOf({ database }: CommandContext, sources: readonly Source[], since = -1) {
  for (const source of sources) {
    let after: number | null = null;
    for (let rest = source.isRefused ? 0 : Infinity; rest > 0;) {
      const query = { limit: PAGE, offset: 0, after };
      const page: Page<HeldNft> = await listContents(database.read, source.result.old_wallet, null, query);
      rest = Math.min(rest, page.total);
      for (const token of page.items.slice(0, rest)) if (token.changedBlock > since) yield { source, token };
      after = page.items.at(-1)?.seq ?? null;
      rest = after === null ? 0 : rest - page.items.length;
    }
  }
}

/** In one transaction, so that each user always has one of the two wallets. */
function moveUsers({ context, appId }: Sweep, sources: readonly Source[]): Promise<void> {
  return context.database.write(async (trx) => {
    await lockLedger(trx);
    const keyOfWallet = ({ result }: Source) => counterKeys.holdings(result.old_wallet);
    const held = await readCounters(trx, sources.map(keyOfWallet));
    const places = sources.flatMap(({ result: { old_wallet, new_wallet } }) => [old_wallet, new_wallet]);
    const addresses = places.map((address) => ({ appId, address }));
    const wallets = (await findWallets(trx, addresses)).values();
    const left: Parameters<typeof setUserIdentifiers>[1][number][] = [];
    const named: typeof left = [];
    for (const source of sources) {
      const [old, fresh] = [wallets.next().value, wallets.next().value];
      const { result } = source;
      result.left = held.get(keyOfWallet(source)) ?? 0;
      const user_identifier = old?.user_identifier ?? null;
      const isFree = !source.isRefused && result.left === 0 && fresh?.user_identifier === null;
      result.user_moved = isFree && user_identifier !== null;
      if (!result.user_moved) continue;
      left.push({ address: result.old_wallet, user_identifier: null });
      named.push({ address: result.new_wallet, user_identifier });
    }
    await setUserIdentifiers(trx, left);
    await setUserIdentifiers(trx, named);
  });
}

/**
 * Asks for a transfer, and waits for it. The idempotency key follows from wallet, token and turn: who asks again waits for the same
 * request. The next turn is for a token that is here although the request of the turn was over before.
 * @returns null when the request has completed, or is no longer stored.
 */
async function move(sweep: Sweep, source: Source, token: Token): Promise<Why | null> {
  const { appId, patience } = sweep;
  const { lookUps } = sweep.context;
  const deadline = Date.now() + patience;
  let waits = false;
  for (let turn = 1; ;) {
    const key = `sweep/${source.result.old_wallet}/${token.contract}/${token.tokenId}/${turn.toString()}`;
    const [answer] = await lookUps.answers([{ appId, key }]);
    const id = answer === undefined ? null : idIn(answer.response);
    const [request] = id === null ? [] : await lookUps.requests([{ appId, id }]);
    const isOver = id !== null && (request === undefined || isFinal(request.status));
    if (isOver && !waits) {
      turn++;
      continue;
    }
    if (isOver)
      return request?.error_code == null ? null : why(request.error_code, ERRORS[request.error_code].message, id);
    waits = true;
    const refusal = id === null ? await ask(sweep, key, moveOf(source, token)) : null;
    const isLate = Date.now() >= deadline;
    if (refusal !== null && (isLate || refusal.errorCode !== "unavailable")) return whyOf(refusal);
    if (isLate) return { ...PENDING, request_id: id };
    await pause(refusal === null ? LOOK_EVERY : (refusal.retryAfter ?? 1) * 1_000);
  }
}

/** @returns null when it was accepted, now or meanwhile by another run, perhaps for another number of copies. */
async function ask(
  { context, appId }: Sweep,
  key: string,
  fields: ReturnType<typeof moveOf>,
): Promise<ApiError | null> {
  const value = { ...fields, token_id: fields.token_id.toString(), amount: fields.amount.toString() };
  const idempotency = { key, endpoint: "wallets sweep", text: JSON.stringify(value), value };
  try {
    await transfer(context, { appId, credential: null, idempotency }, [fields], false);
    return null;
  } catch (error) {
    if (!isError(error)) throw error;
    return error.errorCode === "idempotency_key_reused" ? null : error;
  }
}

function moveOf({ result }: Source, { contract, tokenId, quantity }: Token) {
  const fields = { from_address: result.old_wallet, to_address: result.new_wallet, contract_address: contract };
  return { ...fields, token_id: BigInt(tokenId), amount: BigInt(quantity) };
}

/** @returns an empty text, which no request has, when the answer is not stored any more, or is that of a call of the app. */
function idIn(answer: string): string {
  return answer === "" ? "" : ((JSON.parse(answer) as { request_id?: string }).request_id ?? "");
}

function whyOf({ errorCode, message }: ApiError): Why {
  return why(errorCode, message);
}

function why(reason: string | null, message: string | null, request_id: string | null = null): Why {
  return { reason, message, request_id };
}
