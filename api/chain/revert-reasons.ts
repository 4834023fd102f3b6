import type { ErrorDescription, Interface } from "ethers";

import { asksReceiver, type Command } from "../domain/command.ts";
import type { FieldError, RequestFailureCode } from "../domain/error-codes.ts";
import { abi } from "./abi.ts";
import { cleanText } from "./text.ts";

/** What a custom error of the contracts means for the request. Everything else is `execution_reverted`. */
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

/** What Solidity itself reverts with. Our contracts never do on purpose. */
const BUILT_IN = new Set(["Error", "Panic"]);

/**
 * @param reason revert data as the relay reported it, cut at 256 bytes.
 * @param command what the call was for. Where one of our collections asked a receiver, words that are not the
 *   collection's are the receiver's.
 */
export function decodeRevert(reason: string, command: Command): CallFailure {
  const error = parseError(reason);
  const stranger = error === null ? reason !== "0x" : BUILT_IN.has(error.name);
  const otherwise = stranger && asksReceiver(command) ? "receiver_rejected" : "execution_reverted";
  const errorCode = (error !== null ? MEANINGS[error.name] : undefined) ?? otherwise;
  return { errorCode, errors: [{ field: "transaction", code: errorCode, message: describe(error, reason) }] };
}

/** The failure of a mint in a collection that no longer lets the relay mint. */
export function minterRemoved(relay: string, command: Command): CallFailure {
  return decodeRevert(abi.erc721.encodeErrorResult("CollectionUnauthorizedMinter", [relay]), command);
}

function describe(error: ErrorDescription | null, reason: string): string {
  if (error !== null) return cleanText(`${error.name}(${error.args.map(String).join(", ")})`);
  if (reason === "0x") return "The call reverted without a reason.";
  return `The call reverted with ${reason.slice(0, 74)}.`;
}

function parseError(reason: string): ErrorDescription | null {
  for (const contract of INTERFACES) {
    try {
      const parsed = contract.parseError(reason);
      if (parsed === null) continue;
      // Text that is not UTF-8 decodes only when it is looked at, and throws then: look here.
      parsed.args.toArray(true);
      return parsed;
    } catch {
      // The selector is known but its arguments were cut or made up: the bare name proves nothing.
      return null;
    }
  }
  return null;
}
