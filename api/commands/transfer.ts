import { ApiError, fieldError } from "../domain/error-codes.ts";
import type { CollectionType, Transfer } from "../domain/command.ts";
import type { ForeignContracts } from "../chain/foreign-contracts.ts";
import type { Trx } from "../store/db/engine.ts";
import { checkpointOf, findForeignContract, followContract, recordForeignHolding } from "../store/ledger/foreign.ts";
import { isHeld } from "../store/listings/holdings.ts";
import type { ReservationRefusal } from "../store/requests/reservation-set.ts";
import { type AcceptDeps, acceptRequest } from "./accept-request.ts";
import { notSupported, tooManyContracts } from "./follow-contents.ts";
import { answerOfEarlierCall, type Caller } from "./idempotency.ts";

export interface TransferDeps extends AcceptDeps {
  foreign: ForeignContracts;
  settings: { limits: { contracts: number } };
}

export interface TransferFields {
  from_address: string;
  to_address: string;
  contract_address: string;
  token_id: bigint;
  /** undefined when it is blank. */
  amount?: bigint | undefined;
}

/**
 * Accepts the transfer of a token from one of the app's wallets.
 * @returns the JSON text of the answer.
 */
export async function transfer(deps: TransferDeps, caller: Caller, fields: TransferFields): Promise<string> {
  const earlier = await answerOfEarlierCall(deps, caller);
  if (earlier !== null) return earlier;
  const places = { appId: caller.appId, wallet: fields.from_address, contract: fields.contract_address };
  const { ownsWallet, collectionType, soulbound } = await deps.lookUps.transferSource(places);
  if (!ownsWallet) throw fieldError("wallet_not_found", "from_address", "This app has no wallet with this address.");
  if (soulbound) {
    throw fieldError("not_transferable", "contract_address", "The tokens of this collection can never be transferred.");
  }
  const source = collectionType === null ? await inspectForeign(deps, caller.appId, fields) : { type: collectionType };
  const command: Transfer = {
    kind: "transfer",
    contract: fields.contract_address,
    contractType: source.type,
    foreign: collectionType === null,
    from: fields.from_address,
    to: fields.to_address,
    tokenId: fields.token_id.toString(),
    quantity: quantityOf(source.type, fields.amount).toString(),
  };
  const record = "read" in source ? await source.read() : null;
  return acceptRequest(deps, caller, {
    type: "transfer",
    command,
    collection: command.contract,
    tokenId: command.tokenId,
    refusal: refusalOf,
    ...(record === null ? {} : { prepare: record }),
  });
}

function quantityOf(type: CollectionType, amount: bigint | undefined): bigint {
  if (type === "ERC1155") {
    if (amount !== undefined) return amount;
    throw new ApiError("validation_failed", [
      { field: "amount", code: "required", message: "This field is required for an ERC1155 token." },
    ]);
  }
  if (amount === undefined || amount === 1n) return 1n;
  throw new ApiError("validation_failed", [
    { field: "amount", code: "too_big", message: "Must be 1 or blank for an ERC721 token, which has one copy." },
  ]);
}

interface ForeignSource {
  type: CollectionType;
  /** Reads the wallet's holding from the chain. @returns a function that stores it in the request's transaction. */
  read(): Promise<(trx: Trx) => Promise<void>>;
}

/**
 * Asks the chain about a contract that the service did not deploy: its type, and who holds the token. The app follows the
 * contract from the transfer on.
 */
async function inspectForeign(deps: TransferDeps, appId: string, fields: TransferFields): Promise<ForeignSource> {
  const address = fields.contract_address;
  const known = await findForeignContract(deps.database.read, appId, address);
  const contract = known?.type == null ? await deps.foreign.inspect(address) : { type: known.type, name: known.name };
  if (contract === null) throw notSupported();
  const { type } = contract;
  return {
    type,
    read: async () => {
      const tokenId = fields.token_id.toString();
      const quantity = await deps.foreign.holding(address, type, tokenId, fields.from_address);
      if (quantity === "failed") throw notSupported("The contract does not say who holds the token within the limits.");
      if (quantity === null) throw refusalOf("token_not_found");
      if (quantity === 0n) throw refusalOf("insufficient_balance");
      const owner = fields.from_address;
      return async (trx) => {
        // The contract may be followed already. Then the database may be newer than the balance that was just read.
        if (known?.followed === true && (await isHeld(trx, owner, address, tokenId))) return;
        const quota = deps.settings.limits.contracts;
        const followed = await followContract(trx, { appId, address, known: contract, quota, now: Date.now() });
        if (followed === "quota") throw tooManyContracts(quota);
        // Moves after this block are indexed.
        const block = await checkpointOf(trx);
        await recordForeignHolding(trx, { contract: address, tokenId, owner, quantity: quantity.toString(), block });
      };
    },
  };
}

function refusalOf(code: ReservationRefusal): ApiError {
  switch (code) {
    case "insufficient_balance":
      return fieldError(
        code,
        "token_id",
        "The wallet does not hold enough copies of the token, pending transfers subtracted.",
      );
    case "token_busy":
      return fieldError(
        code,
        "token_id",
        "An earlier transfer of the token is still pending. Try again when it is final.",
      );
    case "token_not_found":
      return fieldError(code, "token_id", "The token does not exist.");
    case "supply_exceeded":
    case "token_already_exists":
    case "metadata_frozen":
      throw new Error(`a transfer was refused for the supply of a collection: ${code}`);
  }
}
