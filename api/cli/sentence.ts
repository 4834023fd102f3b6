import { sentenceOf as startupSentenceOf } from "../context/startup-error.ts";
import { KeyError } from "../domain/stored-wallet.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { FileLockError } from "../store/db/sqlite/sqlite.ts";

/** The sentence for an error that the operator can fix. Null: the error is a bug. */
export function sentenceOf(error: unknown): string | null {
  if (error instanceof OperatorError || error instanceof FileLockError || error instanceof KeyError)
    return error.message;
  return startupSentenceOf(error);
}
