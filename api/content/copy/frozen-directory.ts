import type { FreezeMetadata } from "../../domain/command.ts";
import { COLLECTION_FILE, frozenTokenFile } from "../../domain/frozen-uris.ts";
import type { BlockStore } from "../block-store.ts";
import { canonicalCid } from "../cids.ts";
import { importDirectory } from "../content.ts";
import { collectionMetadata, tokenMetadata } from "../../shared/metadata-documents.ts";
import { findCollection } from "../../store/listings/collections.ts";
import type { Database } from "../../store/db/database.ts";
import { hasUnsettledMints, hostedTokens } from "../../store/requests/freezing.ts";

/** Thrown while mints that were accepted earlier are not final. Try again soon. */
export class NotSettledYet extends Error {
  override readonly name = "NotSettledYet";
}

/** Stores the metadata of a collection and of all its tokens as one IPFS directory. @returns its CID. @throws NotSettledYet */
export async function makeFrozenDirectory(
  deps: { database: Database; blocks: BlockStore },
  command: FreezeMetadata,
  stop: AbortSignal,
): Promise<string> {
  const db = deps.database.read;
  const collection = await findCollection(db, command.collection);
  if (collection === undefined || (await hasUnsettledMints(db, command.collection))) throw new NotSettledYet();
  const files = async function* () {
    yield { path: COLLECTION_FILE, content: jsonOf(collectionMetadata(collection)) };
    for await (const { token_id: id, metadata } of hostedTokens(db, command.collection)) {
      stop.throwIfAborted();
      yield { path: frozenTokenFile(command.type, id), content: jsonOf(tokenMetadata(metadata, id)) };
    }
  };
  return canonicalCid(await importDirectory(deps.blocks, files()));
}

function jsonOf(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
