import { createWriteStream } from "node:fs";
import { readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

import type { MediaUse } from "../../../client/rules/media.ts";
import type { SaidUri } from "../../chain/token-uris.ts";
import { recordUpload } from "../../commands/upload-media.ts";
import type { BlockStore } from "../../content/block-store.ts";
import { canonicalCid, parseCid, parseIpfsUri } from "../../content/cids.ts";
import { findFile, isDamage } from "../../content/content.ts";
import { ApiError } from "../../domain/error-codes.ts";
import type { RESCUE_PROBLEMS } from "../../domain/rescue-report.ts";
import { MediaError } from "../../outbound/download.ts";
import { BoundedMap } from "../../shared/bounded-map.ts";
import { unlessAbsent } from "../../shared/folder.ts";
import { pause } from "../../shared/pause.ts";
import type { Database } from "../../store/db/database.ts";
import { findMediaType, isStored, type StoredMedia } from "../../store/media/media.ts";
import { type Document, parseDocument, textIn, withTexts } from "./document.ts";

export interface DocumentDeps {
  database: Database;
  blocks: BlockStore;
  /** Stores a file in the block store, with all guards against those who wrote the URL. @throws MediaError */
  copy: (wanted: { url: string; use: MediaUse }, maxBytes: number, stop: AbortSignal) => Promise<StoredMedia>;
  folder: string;
  collection: { app_id: string };
  limits: { mediaBytes: number };
  /** The gateway for `ar:` URIs. */
  arweave: string;
  /** Most bytes of a file that is kept in the folder alone. */
  largest: number;
  /** Fetches again what is copied already, to compare it. */
  check: boolean;
  stop: AbortSignal;
}

export interface Problem {
  /** null: the collection itself. */
  token_id: string | null;
  /** `metadata`, or the field that names the file. */
  what: string;
  problem: (typeof RESCUE_PROBLEMS)[number];
  message: string;
  uri: string | null;
}

interface Wanted {
  tokenId: string | null;
  /** Name of its file in `metadata/`. */
  name: string;
  said: SaidUri;
  /** The fields that name files. */
  fields: Readonly<Record<string, MediaUse>>;
  /** What `{id}` in their URIs stands for; null: nothing. */
  id: string | null;
  /** What is served now. */
  earlier: Document | null;
}

/** Largest document that is read as metadata, in bytes. Pictures in it as `data:` URIs count too. */
const DOCUMENT_BYTES = 1_048_576;
/** Milliseconds before a further try. Servers that close refuse many calls at a time (429), and fail now and then. */
const WAITS = [1_000, 4_000, 15_000];
/** URIs whose files are remembered, because tokens often share them, and the longest one, also in a list. */
const [REMEMBERED, LONGEST] = [1_024, 2_048];
const UNSAID = {
  none: "The contract gives no URI for it.",
  failed: "The call of the contract takes more gas, or gives more bytes, than the limits allow.",
  unknown: "The node could not run the call of the contract.",
} as const;

/** Copies documents of metadata, and the files that they name. What is copied stays, also when its source changes or is gone. */
export class DocumentRescuer {
  readonly #deps: DocumentDeps;
  readonly #copies = new BoundedMap<string, Promise<StoredMedia>>(REMEMBERED);
  #drafts = 0;

  constructor(deps: DocumentDeps) {
    this.#deps = deps;
  }

  /** @returns what is to be served, parsed and as JSON, or null; the files in the folder by their fields; what is wrong. */
  async rescue({ tokenId, name, said, fields, id, earlier }: Wanted) {
    const problems: Problem[] = [];
    const media: Record<string, string> = {};
    const noting = (what: string, uri: string | null) => (problem: Problem["problem"], message: string) =>
      void problems.push({ token_id: tokenId, what, problem, message, uri: uri?.slice(0, LONGEST) ?? null });
    const note = noting("metadata", typeof said === "object" ? said.uri : null);
    const found = await this.#document(`metadata/${name}`, said, note);
    const parsed = found === null ? null : parseDocument(found.bytes);
    if (found === null || parsed === null || typeof parsed === "string") {
      if (typeof parsed === "string") note("unusable", parsed);
      return { served: null, media, problems };
    }
    const { document, text } = parsed;
    const copied = new Map<string, string>();
    for (const [field, use] of Object.entries(fields)) {
      const uri = textIn(document, field);
      if (uri === null) continue;
      const url = beside(id === null ? uri : uri.replaceAll("{id}", id), said);
      const kept = found.isNew ? null : await this.#keptIn(earlier, field);
      const noteFile = noting(field, url);
      try {
        const { cid, file } = await this.#media({ url, use }, kept, noteFile);
        if (cid !== null) copied.set(field, `ipfs://${cid}`);
        media[field] = file;
      } catch (error) {
        if (!(error instanceof MediaError)) throw error;
        noteFile("missing", error.message);
      }
    }
    const json = withTexts(text, copied);
    if (json === null) note("too_large", "It is too large to be served. The folder has it.");
    Object.assign(document, Object.fromEntries(copied));
    return { served: json === null ? null : { document, json }, media, problems };
  }

  async #document(file: string, said: SaidUri, note: (problem: Problem["problem"], message: string) => void) {
    const { folder, check } = this.#deps;
    const size = await this.#sizeOf(file);
    const isTooLarge = (bytes: number) => {
      if (bytes > DOCUMENT_BYTES)
        note("too_large", `It has more than ${DOCUMENT_BYTES.toString()} bytes. The folder has it.`);
      return bytes > DOCUMENT_BYTES;
    };
    if (size !== null && isTooLarge(size)) return null;
    const kept = size === null ? null : await readFile(join(folder, file));
    if (kept !== null && !check) return { bytes: kept, isNew: false };
    try {
      if (typeof said !== "object") throw new MediaError("media_unavailable", UNSAID[said]);
      const stored = await this.#copy({ url: said.uri, use: "any" });
      if (kept === null) await this.#export(stored, file);
      if (isTooLarge(stored.size)) return null;
      if (kept === null) return { bytes: await readFile(join(folder, file)), isNew: true };
      if (!kept.equals(await this.#read(stored))) note("changed", "Its source has another one. The copy stays.");
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      note("missing", kept === null ? error.message : `${error.message} The copy stays.`);
    }
    return kept === null ? null : { bytes: kept, isNew: false };
  }

  /** The CID of the file that was copied for a field. */
  async #keptIn(earlier: Document | null, field: string): Promise<string | null> {
    const named = parseIpfsUri(textIn(earlier, field) ?? "");
    if (named === null || named.path !== "") return null;
    const cid = canonicalCid(named.cid);
    return (await isStored(this.#deps.database.read, this.#deps.collection.app_id, cid)) ? cid : null;
  }

  /** @param kept the CID of the copy. @returns the CID to serve, and the file in the folder. @throws MediaError */
  async #media(
    wanted: { url: string; use: MediaUse },
    kept: string | null,
    note: (problem: Problem["problem"], message: string) => void,
  ): Promise<{ cid: string | null; file: string }> {
    let stored: StoredMedia | null = null;
    try {
      // What an `ipfs:` or `data:` URI names never changes.
      if (kept === null || (this.#deps.check && !/^\s*(ipfs|data):/i.test(wanted.url)))
        stored = await this.#copy(wanted);
    } catch (error) {
      if (kept === null || !(error instanceof MediaError)) throw error;
      note("missing", `${error.message} The copy stays.`);
    }
    if (kept !== null && stored !== null && kept !== stored.cid)
      note("changed", "Its source has another one. The copy stays.");
    const cid = kept ?? stored?.cid ?? "";
    const file = `media/${cid}${extensionOf(stored?.type ?? (await findMediaType(this.#deps.database.read, cid)))}`;
    if ((await this.#sizeOf(file)) === null) await this.#export({ cid }, file);
    const refusal = kept !== null || stored === null ? null : await this.#host(stored);
    if (refusal !== null) note("too_large", `${refusal} The folder has it.`);
    return { cid: refusal === null ? cid : null, file };
  }

  /** Tries again what may pass. Tokens that name the same URI get the same copy. */
  #copy(wanted: { url: string; use: MediaUse }): Promise<StoredMedia> {
    const key = `${wanted.use} ${wanted.url}`;
    const known = this.#copies.get(key);
    if (known !== undefined) return known;
    const copying = this.#tryToCopy(wanted);
    if (key.length <= LONGEST) this.#copies.set(key, copying);
    return copying;
  }

  async #tryToCopy(wanted: { url: string; use: MediaUse }, tries = 0): Promise<StoredMedia> {
    const { copy, arweave, largest, stop } = this.#deps;
    const url = wanted.url.trim().replace(/^ar:\/\/\/?/i, `${arweave}/`);
    try {
      return await copy({ ...wanted, url }, largest, stop);
    } catch (error) {
      const wait = WAITS[tries];
      if (!(error instanceof MediaError) || !error.transient || wait === undefined) throw error;
      await pause(wait, stop);
      stop.throwIfAborted();
      return this.#tryToCopy(wanted, tries + 1);
    }
  }

  /** @returns why the app cannot store the file. */
  async #host(file: StoredMedia): Promise<string | null> {
    const { database, blocks, limits, collection } = this.#deps;
    if (file.size > limits.mediaBytes)
      return `It has more than ${limits.mediaBytes.toString()} bytes (MAX_MEDIA_BYTES).`;
    try {
      await database.write((trx) => recordUpload(trx, blocks.name, { appId: collection.app_id, file }));
      return null;
    } catch (error) {
      if (error instanceof ApiError && error.errorCode === "quota_exceeded") return error.message;
      throw error;
    }
  }

  async #sizeOf(file: string): Promise<number | null> {
    const size = stat(join(this.#deps.folder, file)).then((found) => found.size);
    return unlessAbsent(size, null);
  }

  async *#open(cid: string): AsyncGenerator<Uint8Array> {
    const parsed = parseCid(cid);
    try {
      const file = parsed === null ? null : await findFile(this.#deps.blocks, parsed, "");
      if (file === null) throw new MediaError("media_unavailable", "The copy that was stored here is gone.");
      yield* file.read();
    } catch (error) {
      throw isDamage(error) ? new MediaError("media_unavailable", "The copy that was stored here is damaged.") : error;
    }
  }

  async #read({ cid }: Pick<StoredMedia, "cid">): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for await (const part of this.#open(cid)) parts.push(part);
    return Buffer.concat(parts);
  }

  /** Writes what is stored into the folder. A part of a file never has its name. */
  async #export({ cid }: Pick<StoredMedia, "cid">, file: string): Promise<void> {
    // A killed process leaves it. A later one uses the name again.
    const draft = join(this.#deps.folder, `${(++this.#drafts % REMEMBERED).toString()}.part`);
    await pipeline(this.#open(cid), createWriteStream(draft, { mode: 0o600, flush: true }));
    await rename(draft, join(this.#deps.folder, file));
  }
}

/** Of a relative URI, the one beside its document. */
function beside(uri: string, said: SaidUri): string {
  return isRelative(uri) && typeof said === "object" ? (URL.parse(uri, said.uri)?.href ?? uri) : uri;
}

/** Whether a URI has no scheme. */
export function isRelative(uri: string): boolean {
  return !/^\s*[a-z][a-z0-9+.-]*:/i.test(uri);
}

/** `.png` of `image/png`, `.svg` of `image/svg+xml`, nothing of a type whose name says nothing. */
function extensionOf(type: string | null): string {
  const name = /^(?:image|video|audio|model|text)\/(?:x-)?([a-z0-9]+)/.exec(type ?? "")?.[1];
  return name === undefined ? "" : `.${name}`;
}
