import { ChainUnavailable, NodeRedirects } from "../chain/errors.ts";
import { SettingsError } from "../config/settings.ts";
import { SeedFileError } from "../keys/seed-file.ts";
import { explainFileError, FolderError } from "../shared/folder.ts";
import { DatabaseError } from "../store/db/errors.ts";

/** The sentence for an error that the operator can fix. Null: the error is a bug. */
export function sentenceOf(error: unknown): string | null {
  if (error instanceof ChainUnavailable) {
    if (error.node !== null)
      return `No node of RPC_URLS answers as it should (${error.message}). Start one, or put another into RPC_URLS.`;
    if (error instanceof NodeRedirects) return `The chain node at RPC_URL cannot be used: ${error.message}.`;
    return (
      `The chain node at RPC_URL does not answer (${error.message}). Start it, or set RPC_URL to another node. ` +
      "For a local chain, run `npm run chain` in another terminal."
    );
  }
  if (isListenError(error)) return `The API cannot listen: ${error.message}. Set PORT or HOST to a free address.`;
  const expected = [SettingsError, StartupError, SeedFileError, DatabaseError, FolderError];
  if (error instanceof Error && expected.some((kind) => error instanceof kind)) return error.message;
  return explainFileError(error);
}

function isListenError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && error.syscall === "listen";
}

/** Thrown when the service cannot start. The message says what to do. Here, because it is needed before the service is loaded. */
export class StartupError extends Error {
  override readonly name = "StartupError";
}
