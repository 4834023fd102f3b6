import { decodeRevert, type RelayEvent } from "../chain/codec/decode.ts";
import { isDelegated, isMint, receiverOf } from "../domain/command.ts";
import type { ChainOutcome } from "../domain/request.ts";
import type { TokenMove } from "../domain/token.ts";
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
 * @returns `outcomes`: of the requests whose number this transaction consumed. `untouched`: the requests that the batch did not
 *   reach before its gas ran low. `owners`: the request that each move belongs to.
 * @throws AttributionError when the logs do not fit this batch.
 */
export function attribute(
  requests: readonly NumberedRequest[],
  logs: TransactionLogs,
): {
  outcomes: DecidedRequest<NumberedRequest>[];
  untouched: NumberedRequest[];
  owners: Map<TokenMove, NumberedRequest>;
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

  for (const request of requests.slice(0, closing.executed)) {
    const reason = failed.get(request.number);
    if (reason !== undefined) {
      outcomes.push({ request, outcome: { ok: false, ...decodeRevert(reason, request.command) } });
    } else if (skipped.has(request.number)) {
      // The number was consumed earlier: by an earlier batch, whose outcome stays, or by another sender.
      if (request.outcome === null && (request.status === "pending" || request.status === "processing")) {
        outcomes.push({ request, outcome: { ok: false, errorCode: "number_taken", errors: null } });
      }
    } else {
      outcomes.push({ request, outcome: succeeded(request, logs, unassigned, owners) });
    }
  }
  return { outcomes, untouched: requests.slice(closing.executed), owners };
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
