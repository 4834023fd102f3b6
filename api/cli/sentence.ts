import { ChainUnavailable } from "../chain/errors.ts";
import { SettingsError } from "../config/settings.ts";
import { SeedFileError } from "../keys/seed-file.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { explainFileError, FolderError } from "../shared/folder.ts";
import { DatabaseError } from "../store/db/errors.ts";
import { FileLockError } from "../store/db/sqlite/sqlite.ts";

/** The sentence for an error that the operator can fix. Null: the error is a bug. */
export function sentenceOf(error: unknown): string | null {
  if (error instanceof ChainUnavailable) {
    if (error.node !== null)
      return `No node of RPC_URLS answers as it should (${error.message}). Start one, or put another into RPC_URLS.`;
    return `The chain node at RPC_URL does not answer (${error.message}). Start it, or set RPC_URL to another node.`;
  }
  const expected = [OperatorError, SettingsError, DatabaseError, SeedFileError, FolderError, FileLockError];
  if (error instanceof Error && expected.some((kind) => error instanceof kind)) return error.message;
  return explainFileError(error);
}
