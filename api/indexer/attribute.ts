import { decodeRevert, type RelayEvent } from "../chain/codec/decode.ts";
import { isAdoptedMint, isDelegated, isMint, receiverOf } from "../domain/command.ts";
import type { ChainOutcome } from "../domain/request.ts";
import { NEXT_ID, type TokenMove } from "../domain/token.ts";
import type { MintingStop } from "../store/requests/minting.ts";
import type { DecidedRequest, NumberedRequest } from "../store/requests/requests.ts";

/** The decoded logs of one transaction, in order. */
export interface TransactionLogs {
  relay: RelayEvent[];
  moves: TokenMove[];
  /** Collections that the factory created, by request number. */
  created: Map<bigint, string>;
}

export class AttributionError extends Error {
  override readonly name = "AttributionError";
}

/**
 * Attributes logs to requests. The contracts guarantee that calls run in order, that a failed call leaves no log, and that
 * only the relay can mint in a collection while a batch runs. So the k-th mint log of a collection belongs to the k-th
 * successful mint of the batch in it.
 * @param requests of the batch, in the order of its calls.
 * @param isRead whether the logs of an adopted contract are among these.
 * @returns `outcomes`: of the requests whose number this transaction consumed. `untouched`: the requests that the batch did not
 *   reach before its gas ran low. `owners`: the request that each move belongs to. `stops`: adopted contracts
 *   whose mints did something else.
 * @throws AttributionError when the logs do not fit this batch.
 */
export function attribute(
  requests: readonly NumberedRequest[],
  logs: TransactionLogs,
  isRead: (contract: string) => boolean,
): {
  outcomes: DecidedRequest<NumberedRequest>[];
  untouched: NumberedRequest[];
  owners: Map<TokenMove, NumberedRequest>;
  stops: MintingStop[];
} {
  const closing = logs.relay.find((event) => event.kind === "batch-executed");
  if (closing === undefined) {
    const hash = logs.relay[0]?.transactionHash ?? "a transaction";
    throw new AttributionError(`${hash} has no BatchExecuted event of the relay`);
  }
  const failed = new Map(
    logs.relay.flatMap((event) => (event.kind === "call-failed" ? [[event.number, event.reason] as const] : [])),
  );
  const skipped = new Set(logs.relay.flatMap((event) => (event.kind === "call-skipped" ? [event.number] : [])));
  const owners = new Map<TokenMove, NumberedRequest>();
  const unassigned = new Set(logs.moves);
  const outcomes: DecidedRequest<NumberedRequest>[] = [];
  const executed = requests.slice(0, closing.executed);
  const ran = executed.filter(({ number }) => !failed.has(number) && !skipped.has(number));
  const { minted, stops } = mintedByAdopted(ran, logs.moves, isRead);

  for (const request of executed) {
    const reason = failed.get(request.number);
    if (reason !== undefined) {
      outcomes.push({ request, outcome: { ok: false, ...decodeRevert(reason, request.command) } });
    } else if (skipped.has(request.number)) {
      // The number was consumed earlier: by an earlier batch, whose outcome stays, or by another sender.
      if (request.outcome === null && (request.status === "pending" || request.status === "processing")) {
        outcomes.push({ request, outcome: { ok: false, errorCode: "number_taken", errors: null } });
      }
    } else if (isAdoptedMint(request.command)) {
      const move = minted.get(request);
      if (move !== undefined) owners.set(move, request);
      // What was known of old blocks stays: they are read again without the logs of adopted contracts.
      const known = request.status === "completed" ? request.nft_token_id : null;
      const tokenId = move?.tokenId ?? (isRead(request.command.collection) ? null : known);
      outcomes.push({ request, outcome: { ok: true, collection: request.command.collection, tokenId } });
    } else {
      outcomes.push({ request, outcome: succeeded(request, logs, unassigned, owners) });
    }
  }
  return { outcomes, untouched: requests.slice(closing.executed), owners, stops };
}

/**
 * The token that each mint into an adopted contract has made. Their code is not the service's: only if the contract's mint logs are
 * exactly what the calls should make, in their order, the tokens belong to them. Otherwise nothing is guessed: the calls have
 * succeeded and are never sent again, and minting into the contract stops.
 * @param ran the requests whose calls succeeded, in order.
 */
function mintedByAdopted(
  ran: readonly NumberedRequest[],
  moves: readonly TokenMove[],
  isRead: (contract: string) => boolean,
): { minted: Map<NumberedRequest, TokenMove>; stops: MintingStop[] } {
  const minted = new Map<NumberedRequest, TokenMove>();
  const stops: MintingStop[] = [];
  const mints = ran.flatMap((request) =>
    isAdoptedMint(request.command) ? [{ request, command: request.command }] : [],
  );
  for (const [contract, calls] of Map.groupBy(mints, ({ command }) => command.collection)) {
    if (!isRead(contract)) continue;
    const made = moves.filter((move) => move.contract === contract && move.from === null);
    const fits = calls.map(({ command }, index) => {
      const quantity = command.kind === "mint-erc721" ? "1" : command.quantity;
      const [move, { tokenId }] = [made[index], command.adopted];
      const isId = tokenId === null || tokenId === move?.tokenId || tokenId === NEXT_ID;
      return isId && move?.to === command.to && move.quantity === quantity;
    });
    if (made.length === calls.length && !fits.includes(false)) {
      for (const [index, { request }] of calls.entries()) if (made[index]) minted.set(request, made[index]);
      continue;
    }
    const first = calls[Math.max(0, fits.indexOf(false))]?.request.id ?? "";
    const reason =
      `A transaction with ${calls.length.toString()} mints, among them request ${first}, made ${made.length.toString()} tokens, ` +
      "or others than they name, or for other receivers. Their requests are completed without token ids. Look at the contract.";
    stops.push({ contract, reason });
  }
  return { minted, stops };
}

/** Without a copy of all: a batch has many requests, and its transaction may have thousands of moves. */
function firstOf(moves: Iterable<TokenMove>, belongs: (move: TokenMove) => boolean): TokenMove | undefined {
  for (const move of moves) if (belongs(move)) return move;
  return undefined;
}

function succeeded(
  request: NumberedRequest,
  logs: TransactionLogs,
  unassigned: Set<TokenMove>,
  owners: Map<TokenMove, NumberedRequest>,
): ChainOutcome {
  const { command } = request;
  if (command.kind === "create-collection") {
    const collection = logs.created.get(request.number);
    if (collection === undefined)
      throw new AttributionError(`request ${request.id} succeeded, but no collection was created`);
    return { ok: true, collection, tokenId: null };
  }
  if (command.kind === "announce-metadata" || command.kind === "freeze-metadata") {
    return { ok: true, collection: command.collection, tokenId: request.nft_token_id };
  }
  const contract = isMint(command) ? command.collection : command.contract;
  const belongs = (move: TokenMove): boolean => {
    if (move.contract !== contract) return false;
    if (isMint(command)) return move.from === null;
    return move.from === command.from && move.to === receiverOf(command) && move.tokenId === command.tokenId;
  };
  const move = firstOf(unassigned, belongs);
  if (move === undefined) {
    // A foreign contract may move a token without an event: its balances are compared later. The service's contracts never do.
    if (isDelegated(command)) {
      return { ok: true, collection: command.contract, tokenId: command.tokenId };
    }
    throw new AttributionError(`request ${request.id} succeeded, but no token was moved`);
  }
  if (isMint(command) && (move.to !== command.to || ("tokenId" in command && move.tokenId !== command.tokenId))) {
    throw new AttributionError(`request ${request.id} succeeded, but another token was minted`);
  }
  unassigned.delete(move);
  owners.set(move, request);
  return { ok: true, collection: contract, tokenId: move.tokenId };
}
