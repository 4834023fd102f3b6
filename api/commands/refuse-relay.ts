import type { Command } from "../domain/command.ts";
import { ApiError } from "../domain/error-codes.ts";

/** A field of the caller that names who gets something, and its value. */
type Destination = [field: string, address: string | null | undefined];

/**
 * Refuses the relay as a destination or owner. It calls what its operators tell it to, so every operator key could take
 * what the relay holds, or act as the owner.
 * @throws ApiError `validation_failed`, naming the fields
 */
export function refuseRelay(relay: string, destinations: readonly Destination[]): void {
  const fields = destinations.filter(([, address]) => address === relay);
  if (fields.length === 0) return;
  const message =
    "Must not be the service's relay contract. Use the address of a person, a wallet or another contract.";
  throw new ApiError(
    "validation_failed",
    fields.map(([field]) => ({ field, code: "relay_address", message })),
  );
}

/** The fields of the caller that name who gets something, with their values. */
export function destinationsOf(command: Command): Destination[] {
  switch (command.kind) {
    case "create-collection":
      return [
        ["new_owner", command.newOwner],
        ["fee_recipient", command.metadata.fee_recipient],
      ];
    case "mint-erc721":
    case "mint-erc1155":
    case "transfer":
      return [["to_address", command.to]];
    case "create-erc1155":
      return [["initial_owner", command.to]];
    case "burn":
    case "announce-metadata":
    case "freeze-metadata":
      return [];
  }
}
