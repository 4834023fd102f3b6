import { decodeCommand, decodeExecute } from "../chain/codec/decode-call.ts";
import { storedAddresses } from "../chain/contracts.ts";
import { dataOf } from "../chain/transaction.ts";
import { type Command, isMint } from "../domain/command.ts";
import type { Database } from "../store/db/database.ts";
import { readContracts } from "../store/db/meta.ts";
import { findCollection } from "../store/listings/collections.ts";
import { replaceCommand, type StoredTexts, storedTexts } from "../store/requests/repair.ts";
import { OperatorError } from "./operator-error.ts";

/**
 * Makes the command of a request again, which cannot be read, from the transaction that was signed for it. What the chain does not
 * know comes from the rows of what the request has made, or from the readable part of the command.
 * @throws OperatorError when the command can be read, or nothing was signed for the request.
 */
export async function repairRequest(database: Database, id: string): Promise<Command> {
  const stored = await storedTexts(database.read, id);
  if (stored === null)
    throw new OperatorError(`There is no request with the id ${id}. \`request list\` shows the newest ones.`);
  if (stored.isReadable) throw new OperatorError("The request can be read: there is nothing to repair.");
  const command = await signedCommand(database, stored);
  if (command === null) {
    throw new OperatorError(
      "No signed transaction of the request is stored, so its command cannot be made again. Nothing was changed.",
    );
  }
  const whole =
    "metadata" in command ? ({ ...command, metadata: stored.metadata ?? command.metadata } as Command) : command;
  await database.write((trx) => replaceCommand(trx, id, whole));
  return whole;
}

/** What the signed transaction of the request does for it. */
async function signedCommand(database: Database, { number, raw }: StoredTexts): Promise<Command | null> {
  const contracts = await readContracts(database.read, storedAddresses);
  if (contracts === null || number === null || raw === null) return null;
  const call = decodeExecute(dataOf(raw))?.find((one) => one.number === number);
  if (call === undefined) return null;
  const command = decodeCommand(call, contracts);
  // Contracts of others may have the mint functions of the service's collections.
  const adopted = isMint(command) && (await findCollection(database.read, command.collection))?.adopted === 1;
  return adopted ? { ...command, adopted: { tokenId: null, uri: null } } : command;
}
