import { type Command, isOfWallet } from "../domain/command.ts";
import { type ApiError, fieldError } from "../domain/error-codes.ts";
import type { ReservationRefusal } from "../store/requests/reservation-set.ts";

/** The error of an item that could not reserve what it needs. */
export function reservationError(command: Command, code: ReservationRefusal): ApiError {
  switch (code) {
    case "metadata_frozen":
      return fieldError(code, "collection_address", "The collection's metadata is frozen, or a freeze is in progress.");
    case "supply_exceeded":
      if (command.kind === "mint-erc1155")
        return fieldError(code, "quantity", "The total would exceed the most copies of an id, 2^128-1.");
      return fieldError(
        code,
        "collection_address",
        "The collection's maximum supply is reached, pending mints included.",
      );
    case "token_already_exists":
      return fieldError(code, "token_id", "This token id already exists, or its creation is pending.");
    case "token_not_found":
      return isOfWallet(command) ? tokenNotFound() : idNotFound();
    case "insufficient_balance":
      return insufficientBalance();
    case "token_busy":
      return fieldError(
        code,
        "token_id",
        "An earlier transfer or burn of the token is still pending. Try again when it is final.",
      );
  }
}

export function tokenNotFound(): ApiError {
  return fieldError("token_not_found", "token_id", "The token does not exist.");
}

function idNotFound(): ApiError {
  const message = "This token id does not exist. Create it first, with initial_supply and initial_owner.";
  return fieldError("token_not_found", "token_id", message);
}

export function insufficientBalance(): ApiError {
  return fieldError(
    "insufficient_balance",
    "token_id",
    "The wallet does not hold enough copies of the token, pending transfers subtracted.",
  );
}
