import { CID } from "multiformats/cid";
import * as raw from "multiformats/codecs/raw";
import { sha256 } from "multiformats/hashes/sha2";

/** A stream of these parts, as content arrives. */
export async function* streamOf<T>(...parts: T[]): AsyncGenerator<T> {
  await Promise.resolve();
  yield* parts;
}

/** A block whose content is this text. */
export async function blockOf(text: string): Promise<{ cid: CID; bytes: Uint8Array }> {
  const bytes = Buffer.from(text);
  return { cid: CID.createV1(raw.code, await sha256.digest(bytes)), bytes };
}
