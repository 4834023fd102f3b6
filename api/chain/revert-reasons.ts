import type { ErrorDescription, Interface } from "ethers";

import { callsReceiver, type Command } from "../domain/command.ts";
import type { FieldError, RequestFailureCode } from "../domain/error-codes.ts";
import { abi } from "./abi.ts";
import { cleanText } from "./text.ts";

/** Error codes of requests for the contracts' custom errors. All others are `execution_reverted`. */
const MEANINGS: Record<string, RequestFailureCode> = {
  ERC721InvalidReceiver: "receiver_rejected",
  ERC1155InvalidReceiver: "receiver_rejected",
  CollectionUnauthorizedMinter: "service_cannot_mint",
  ERC721ExceededMaxSupply: "supply_exceeded",
  ERC1155ExceededMaxSupply: "supply_exceeded",
  ERC1155AlreadyCreated: "token_already_exists",
  ERC721IncorrectOwner: "insufficient_balance",
  ERC721NonexistentToken: "insufficient_balance",
  ERC1155InsufficientBalance: "insufficient_balance",
};

const INTERFACES: Interface[] = [abi.erc721, abi.erc1155, abi.relay, abi.delegate, abi.factory];

/** Why a call failed, or would fail. */
export interface CallFailure {
  errorCode: RequestFailureCode;
  errors: FieldError[];
}

/** Errors built into Solidity. The service's contracts never use them on purpose. */
const BUILT_IN = new Set(["Error", "Panic"]);

/**
 * Decodes why a call failed.
 * @param reason revert data as the relay reports it, cut at 256 bytes.
 * @param command the command of the call. If it calls a receiver hook, an error that is not the collection's own comes from
 *   the receiver.
 */
export function decodeRevert(reason: string, command: Command): CallFailure {
  const error = parseError(reason);
  const unknown = error === null ? reason !== "0x" : BUILT_IN.has(error.name);
  const otherwise = unknown && callsReceiver(command) ? "receiver_rejected" : "execution_reverted";
  const errorCode = (error !== null ? MEANINGS[error.name] : undefined) ?? otherwise;
  return { errorCode, errors: [{ field: "transaction", code: errorCode, message: describe(error, reason) }] };
}

/**
 * Whether a call that failed on chain ran out of gas. The service's contracts give a reason for every failure of their own,
 * so they fail without one only when their gas is used up. A creation passes nearly all of its gas on to the new contract.
 */
export function ranOutOfGas(reason: string): boolean {
  return reason === "0x" || parseError(reason)?.name === "FailedDeployment";
}

/** @param message with the figures: what was needed, and what was allowed. */
export function outOfGas(message: string): CallFailure {
  return { errorCode: "out_of_gas", errors: [{ field: "transaction", code: "out_of_gas", message }] };
}

/** The failure of a mint in a collection that no longer lets the relay mint. */
export function minterRemoved(relay: string, command: Command): CallFailure {
  return decodeRevert(abi.erc721.encodeErrorResult("CollectionUnauthorizedMinter", [relay]), command);
}

function describe(error: ErrorDescription | null, reason: string): string {
  if (error !== null) return cleanText(`${error.name}(${error.args.map(String).join(", ")})`);
  if (reason === "0x") return "The contract call reverted without a reason.";
  return `The contract call reverted with unknown data: ${reason.slice(0, 74)}.`;
}

function parseError(reason: string): ErrorDescription | null {
  for (const contract of INTERFACES) {
    try {
      const parsed = contract.parseError(reason);
      if (parsed === null) continue;
      // ethers decodes text lazily and throws on access if it is not UTF-8: access it here.
      parsed.args.toArray(true);
      return parsed;
    } catch {
      // The selector is known, but the arguments are cut or invalid: the name alone proves nothing.
      return null;
    }
  }
  return null;
}
