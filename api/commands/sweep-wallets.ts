import { ApiError, ERRORS } from "../domain/error-codes.ts";
import { isFinal } from "../domain/request.ts";
import { forEachAtOnce } from "../shared/at-once.ts";
import { pause } from "../shared/pause.ts";
import { findWallets, type NewWallet, setUserIdentifier, walletsAt } from "../store/apps/wallets.ts";
import { counterKeys, readCounter, readCounters } from "../store/db/counters.ts";
import { isInsertedMeanwhile } from "../store/db/errors.ts";
import { rowsAfter } from "../store/db/pages.ts";
import type { WalletRow } from "../store/db/schema.ts";
import { lockLedger } from "../store/db/sql.ts";
import { type HeldNft, isHeld, listContents } from "../store/listings/holdings.ts";
import type { CommandContext } from "./context.ts";
import type { Caller } from "./idempotency.ts";
import { transfer } from "./transfer.ts";

/** Why tokens of a wallet are left. */
interface Left {
  /** null: that of all. */
  contract_address: string | null;
  /** An `error_code`; `pending`: a request that has no end yet; `comes_back`: its contract gives the token back. */
  reason: string;
  message: string;
  tokens: number;
  /** The first one; null: all. */
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
  /** One for each contract and reason. */
  reasons: Left[];
}

export interface Sweep {
  context: CommandContext;
  appId: string;
  /** The new wallet of an old one: always the same, so a repeated command goes on with it. */
  deriveNew: (oldWallet: string) => Pick<NewWallet, "address" | "path">;
  /** Milliseconds in which a token has to move. */
  patience: number;
  /** Tokens that have moved, and of how many that are known. */
  report: (moved: number, known: number) => void;
}

/** Requests that are under way at a time. */
const AT_ONCE = 250;
/** Milliseconds between two looks at a request. Looks at the same moment share a statement. */
const LOOK_EVERY = 250;
/** Tokens that one statement reads. */
const PAGE = 250;

/** Moves the tokens of imported wallets of an app, and then their users, to new wallets. @returns those with something to move. */
export async function sweepWallets(sweep: Sweep, wallets: readonly WalletRow[]): Promise<Swept[]> {
  const { context, appId } = sweep;
  const keyOfWallet = ({ address }: WalletRow) => counterKeys.holdings(address);
  const held = await readCounters(context.database.read, wallets.map(keyOfWallet));
  const all = wallets.flatMap((wallet) => {
    const before = held.get(keyOfWallet(wallet)) ?? 0;
    return before > 0 || wallet.user_identifier !== null ? [new SweptWallet(sweep, wallet, before)] : [];
  });
  await forEachAtOnce(all, AT_ONCE, (one) => one.create());
  const able = all.filter(({ isRefused }) => !isRefused);
  const progress = { moved: 0, known: all.reduce((sum, { before }) => sum + before, 0) };
  for (let tried = true; tried;) {
    tried = false;
    // Tokens may arrive meanwhile.
    await forEachAtOnce(tokensOf(able), AT_ONCE, async ({ wallet, token }) => {
      tried = true;
      if (await wallet.move(token)) progress.moved++;
      sweep.report(progress.moved, Math.max(progress.known, progress.moved));
    });
  }
  const swept: Swept[] = [];
  await forEachAtOnce(all, AT_ONCE, async (one) => {
    if (!one.isRefused) one.userMoved = await moveUser(context, appId, one.address, one.fresh.address);
    swept.push(await one.result());
  });
  return swept.sort((a, b) => (a.old_wallet < b.old_wallet ? -1 : 1));
}

type Token = Pick<HeldNft, "contract" | "tokenId" | "quantity">;

/** The tokens that the wallets have, without those that are known to stay. */
async function* tokensOf(wallets: readonly SweptWallet[]): AsyncGenerator<{ wallet: SweptWallet; token: Token }> {
  for (const wallet of wallets)
    for await (const token of wallet.tokens()) if (!wallet.stay.has(keyOf(token))) yield { wallet, token };
}

/** In one transaction, so that the user always has one of the two. @returns whether the new wallet has the user. */
function moveUser({ database }: CommandContext, appId: string, from: string, to: string): Promise<boolean> {
  return database.write(async (trx) => {
    await lockLedger(trx);
    const [old, fresh] = await findWallets(trx, [
      { appId, address: from },
      { appId, address: to },
    ]);
    const user = old?.user_identifier ?? null;
    const isEmpty = (await readCounter(trx, counterKeys.holdings(from))) === 0;
    if (user === null || !isEmpty || fresh === undefined || fresh.user_identifier !== null) return false;
    await setUserIdentifier(trx, from, null);
    await setUserIdentifier(trx, to, user);
    return true;
  });
}

type Why = Pick<Left, "reason" | "message" | "request_id">;

/** An imported wallet while it is swept. */
class SweptWallet {
  readonly address: string;
  readonly fresh: Pick<NewWallet, "address" | "path">;
  readonly before: number;
  /** Whether nothing of it may move. */
  isRefused = false;
  userMoved = false;
  readonly #sweep: Sweep;
  readonly #user: string | null;
  /** How often each token has moved. */
  readonly #moves = new Map<string, number>();
  /** Tokens that are not tried again. */
  readonly stay = new Set<string>();
  /** By contract and reason. */
  readonly #reasons = new Map<string, Left>();

  constructor(sweep: Sweep, { address, user_identifier: user }: WalletRow, before: number) {
    this.#sweep = sweep;
    this.#user = user;
    this.address = address;
    this.fresh = sweep.deriveNew(address);
    this.before = before;
  }

  /** Makes the new wallet, if it is not there. */
  async create(): Promise<void> {
    const { context, appId } = this.#sweep;
    const stored = (await walletsAt(context.database.read, [this.fresh])).get(this.fresh.address);
    if (stored === undefined) {
      const caller = { appId, credential: null, idempotency: null };
      const call = { caller, key: null, items: [], isBatch: false };
      const wallet = { appId, userIdentifier: null, ...this.fresh };
      const made = await refusalOf(() => context.acceptQueue.decide({ ...call, wallet })).catch((error: unknown) => {
        // Another run of the command.
        if (isInsertedMeanwhile(error)) return this.create();
        throw error;
      });
      if (made instanceof ApiError) this.#refuse(made.errorCode, made.message);
    } else if (stored.app_id !== appId || stored.path !== this.fresh.path)
      this.#refuse("address_taken", "Another wallet has the new wallet's address.");
    else if (this.#user !== null && stored.user_identifier !== null)
      this.#refuse(
        "has_another_user",
        "The new wallet has a user already. Rename it to none, or move the tokens by requests of your own.",
      );
  }

  #refuse(reason: string, message: string): void {
    this.isRefused = true;
    const all = { contract_address: null, token_id: null, request_id: null, tokens: this.before };
    this.#reasons.set("", { ...all, reason, message });
  }

  tokens(): AsyncGenerator<HeldNft> {
    const { read } = this.#sweep.context.database;
    const page = (after: number | null) => listContents(read, this.address, null, { limit: PAGE, offset: 0, after });
    return rowsAfter<HeldNft, number | null>(
      null,
      async (after) => (await page(after)).items,
      ({ seq }) => seq,
    );
  }

  /** @returns whether the token has moved. */
  async move(token: Token): Promise<boolean> {
    const key = keyOf(token);
    const moves = this.#moves.get(key) ?? 0;
    const why = moves < MOST_MOVES ? await this.#request(token) : COMES_BACK;
    if (why === null) this.#moves.set(key, moves + 1);
    // Somebody else may have moved it.
    else if (await isHeld(this.#sweep.context.database.read, this.address, token.contract, token.tokenId))
      this.#leave(token, why);
    return why === null && moves === 0;
  }

  #leave(token: Token, why: Why): void {
    const { contract, tokenId } = token;
    this.stay.add(keyOf(token));
    const place = `${contract} ${why.reason}`;
    const left = this.#reasons.get(place) ?? { contract_address: contract, token_id: tokenId, ...why, tokens: 0 };
    this.#reasons.set(place, left);
    left.tokens++;
  }

  /** @returns null when the token's request has completed. */
  async #request(token: Token): Promise<Why | null> {
    const deadline = Date.now() + this.#sweep.patience;
    for (let round = 1; ;) {
      const asked = await this.#ask(token, round);
      if (typeof asked === "string") return this.#endOf(asked, deadline);
      if (asked === null) round++;
      else if (asked.errorCode === "unavailable" && Date.now() < deadline) await pause((asked.retryAfter ?? 1) * 1_000);
      // Another run has asked in this round meanwhile, for another number of copies.
      else if (asked.errorCode !== "idempotency_key_reused") return whyOf(asked);
    }
  }

  /**
   * The key follows from wallet, token and round: who asks again gets the same request.
   * @returns the id of the request of the round; null: it is over, and the token is here nevertheless.
   */
  async #ask(token: Token, round: number): Promise<string | null | ApiError> {
    const { context, appId } = this.#sweep;
    const { contract, tokenId, quantity } = token;
    const key = `sweep/${this.address}/${contract}/${tokenId}/${round.toString()}`;
    const [earlier] = await context.lookUps.answers([{ appId, key }]);
    if (earlier !== undefined) {
      const id = idIn(earlier.response);
      const [request] = await context.lookUps.requests([{ appId, id }]);
      return request === undefined || isFinal(request.status) ? null : id;
    }
    const fields = { from_address: this.address, to_address: this.fresh.address, contract_address: contract };
    const value = { ...fields, token_id: tokenId, amount: quantity };
    const idempotency = { key, endpoint: "wallets sweep", text: JSON.stringify(value), value };
    const caller: Caller = { appId, credential: null, idempotency };
    const moved = { ...fields, token_id: BigInt(tokenId), amount: BigInt(quantity) };
    const answer = await refusalOf(() => transfer(context, caller, [moved], false));
    return answer instanceof ApiError ? answer : idIn(answer.json);
  }

  /** @returns null when the request has completed, or is no longer stored. */
  async #endOf(id: string, deadline: number): Promise<Why | null> {
    const { context, appId } = this.#sweep;
    for (;;) {
      const [request] = await context.lookUps.requests([{ appId, id }]);
      if (request === undefined || request.status === "completed") return null;
      if (isFinal(request.status)) {
        const reason = request.error_code ?? "internal_error";
        return { reason, message: ERRORS[reason].message, request_id: id };
      }
      if (Date.now() >= deadline)
        return { reason: "pending", message: "Its request goes on. Run the command again.", request_id: id };
      await pause(LOOK_EVERY);
    }
  }

  async result(): Promise<Swept> {
    const { address: old_wallet, fresh, before, userMoved: user_moved } = this;
    const left = await readCounter(this.#sweep.context.database.read, counterKeys.holdings(old_wallet));
    const reasons = [...this.#reasons.values()];
    const figures = { before, moved: this.#moves.size, left, user_moved, reasons };
    return { user_identifier: this.#user, old_wallet, new_wallet: fresh.address, ...figures };
  }
}

/** A contract that gives a token back each time must not keep the command for ever. */
const MOST_MOVES = 5;
const COMES_BACK: Why = { reason: "comes_back", message: "It moved, and came back each time.", request_id: null };

function keyOf({ contract, tokenId }: Token): string {
  return `${contract}/${tokenId}`;
}

/** @returns an empty text, which no request has, when the answer is not stored any more, or is that of a call of the app. */
function idIn(answer: string): string {
  return answer === "" ? "" : ((JSON.parse(answer) as { request_id?: string }).request_id ?? "");
}

async function refusalOf<T>(work: () => Promise<T>): Promise<T | ApiError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

function whyOf({ errorCode: reason, message }: ApiError): Why {
  return { reason, message, request_id: null };
}
