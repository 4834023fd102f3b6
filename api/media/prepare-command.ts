import { type Command, isMint, MEDIA_FIELDS } from "../domain/command.ts";
import type { Database } from "../store/db/database.ts";
import type { StoredMedia } from "../store/media/media.ts";
import { copyMedia, type CopyDeps } from "./copy-media.ts";
import { makeFrozenDirectory } from "./frozen-directory.ts";
import { MediaError } from "./media-error.ts";

/** A command with its content stored. */
export interface Prepared {
  command: Command;
  media: StoredMedia[];
}

/** The media of a field cannot be copied. */
export class FieldProblem extends Error {
  override readonly name = "FieldProblem";
  readonly field: string;
  override readonly cause: MediaError;

  constructor(field: string, cause: MediaError) {
    super(cause.message);
    this.field = field;
    this.cause = cause;
  }
}

/**
 * Stores the content that a command needs.
 * @returns the command with the content's URIs in it.
 * @throws FieldProblem, NotSettledYet
 */
export async function prepareCommand(
  deps: CopyDeps & { database: Database },
  command: Command,
  stop: AbortSignal,
): Promise<Prepared> {
  if (command.kind === "freeze-metadata") {
    return { command: { ...command, directory: await makeFrozenDirectory(deps, command, stop) }, media: [] };
  }
  if (!isMint(command) || command.kind === "mint-erc1155" || command.metadata === null) return { command, media: [] };
  const media: StoredMedia[] = [];
  const metadata = { ...command.metadata };
  for (const field of MEDIA_FIELDS) {
    const url = metadata[field];
    if (url === undefined || url === "") continue;
    const stored = await copyMedia(deps, url, stop).catch((error: unknown) => {
      throw error instanceof MediaError ? new FieldProblem(field, error) : error;
    });
    media.push(stored);
    metadata[field] = `ipfs://${stored.cid}`;
  }
  return { command: { ...command, metadata }, media };
}
