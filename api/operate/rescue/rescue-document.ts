import { existsSync } from "node:fs";
import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";

import type { Logger } from "pino";

import type { MediaUse } from "../../../client/rules/media.ts";
import type { ChainClient } from "../../chain/client.ts";
import type { SaidUri } from "../../chain/token-uris.ts";
import { recordUpload } from "../../commands/upload-media.ts";
import type { BlockStore } from "../../content/block-store.ts";
import { canonicalCid, parseCid, parseIpfsUri } from "../../content/cids.ts";
import { findFile, isDamage } from "../../content/content.ts";
import { extensionOf } from "../../content/media-type.ts";
import { ApiError } from "../../domain/error-codes.ts";
import type { RESCUE_PROBLEMS } from "../../domain/rescue-report.ts";
import { MediaError } from "../../outbound/download.ts";
import { BoundedMap } from "../../shared/bounded-map.ts";
import { pause } from "../../shared/pause.ts";
import type { Database } from "../../store/db/database.ts";
import type { StoredCollection } from "../../store/listings/collections.ts";
import { findMediaType, isStored, type StoredMedia } from "../../store/media/media.ts";
import { type Document, parseDocument, textIn, withTexts } from "./document.ts";

export interface RescueDeps {
  database: Database;
  client: ChainClient;
  logger: Logger;
  collection: StoredCollection;
  blocks: BlockStore;
  /** Stores a file in the block store, with all guards against those who wrote the URL. @throws MediaError */
  copy: (wanted: Source, maxBytes: number, stop: AbortSignal) => Promise<StoredMedia>;
  folder: string;
  limits: { mediaBytes: number; freeDiskBytes: number };
  /** Start of the URIs under which the service serves metadata, with a slash at the end. */
  hostedBase: string;
  chainId: string;
  /** The gateway for `ar:` URIs. */
  arweave: string;
  /** Most bytes of a file that is kept in the folder alone. */
  largest: number;
  /** Fetches again what is copied already, to compare it. */
  check: boolean;
  progress: (done: number, total: number) => void;
  stop: AbortSignal;
}

/** How the name of a file in the folder ends that is not complete. */
export const PART = ".part";

export interface Problem {
  /** null: the collection itself. */
  token_id: string | null;
  /** `metadata`, or the field that names the file. */
  what: string;
  problem: (typeof RESCUE_PROBLEMS)[number];
  message: string;
  uri: string | null;
}

type Note = (problem: Problem["problem"], message: string) => void;

interface Source {
  url: string;
  use: MediaUse;
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
const CHANGED = "Its source has another one. The copy stays.";
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
  readonly #deps: RescueDeps;
  readonly #copies = new BoundedMap<string, Promise<StoredMedia>>(REMEMBERED);
  #drafts = 0;

  constructor(deps: RescueDeps) {
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
    if (typeof parsed === "string") note("unusable", parsed);
    if (found === null || parsed === null || typeof parsed === "string") return { served: null, media, problems };
    const { document, text } = parsed;
    const copied = new Map<string, string>();
    for (const [field, use] of Object.entries(fields)) {
      const uri = textIn(document, field);
      if (uri === null) continue;
      const url = beside(id === null ? uri : uri.replaceAll("{id}", id), said);
      const kept = await this.#keptIn(earlier, field);
      const { cid, file } = await this.#media({ url, use }, { kept, isNew: found.isNew }, noting(field, url));
      if (cid !== null) copied.set(field, `ipfs://${cid}`);
      if (file !== null) media[field] = file;
    }
    const json = withTexts(text, copied);
    if (json === null) note("too_large", "It is too large to be served. The folder has it.");
    Object.assign(document, Object.fromEntries(copied));
    return { served: json === null ? null : { document, json }, media, problems };
  }

  /** @returns the copy in the folder, which is made if it is not there; null: there is none that can be served. */
  async #document(file: string, said: SaidUri, note: Note): Promise<{ bytes: Buffer; isNew: boolean } | null> {
    const { folder, check } = this.#deps;
    const path = join(folder, file);
    const isNew = !existsSync(path);
    let stored: StoredMedia | null = null;
    if (isNew || check) {
      if (typeof said === "object") stored = await this.#fetch({ url: said.uri, use: "any" }, !isNew, note);
      else note("missing", UNSAID[said]);
      if (isNew && (stored === null || !(await this.#export(stored.cid, file, note)))) return null;
    }
    if ((await stat(path)).size > DOCUMENT_BYTES) {
      note("too_large", `It has more than ${DOCUMENT_BYTES.toString()} bytes. The folder has it.`);
      return null;
    }
    const bytes = await readFile(path);
    const differs = async ({ cid, size }: StoredMedia) =>
      size !== bytes.length || !bytes.equals(await buffer(this.#open(cid)));
    if (!isNew && stored !== null && (await differs(stored).catch(noted(note))) === true) note("changed", CHANGED);
    return { bytes, isNew };
  }

  /** The CID of the file that was copied for a field. */
  async #keptIn(earlier: Document | null, field: string): Promise<string | null> {
    const named = parseIpfsUri(textIn(earlier, field) ?? "");
    if (named === null || named.path !== "") return null;
    const cid = canonicalCid(named.cid);
    return (await isStored(this.#deps.database.read, this.#deps.collection.app_id, cid)) ? cid : null;
  }

  /**
   * @param kept the CID of the copy. @param isNew whether the document is, so that another file takes the place of the copy.
   * @returns the CID to serve, and the file in the folder.
   */
  async #media(wanted: Source, { kept, isNew }: { kept: string | null; isNew: boolean }, note: Note) {
    // What an `ipfs:` or `data:` URI names never changes.
    const isWanted = kept === null || isNew || (this.#deps.check && !/^\s*(ipfs|data):/i.test(wanted.url));
    const found = isWanted ? await this.#fetch(wanted, kept !== null, note) : null;
    if (!isNew && kept !== null && found !== null && kept !== found.cid) note("changed", CHANGED);
    const stored = isNew || kept === null ? found : null;
    const cid = stored?.cid ?? kept;
    if (cid === null) return { cid, file: null };
    const file = `media/${cid}.${extensionOf(stored?.type ?? (await findMediaType(this.#deps.database.read, cid)))}`;
    if (!existsSync(join(this.#deps.folder, file)) && !(await this.#export(cid, file, note)))
      return { cid, file: null };
    const refusal = stored === null ? null : await this.#host(stored);
    if (refusal !== null) note("too_large", `${refusal} The folder has it.`);
    return { cid: refusal === null ? cid : kept, file };
  }

  /** @returns null when its source does not give it, which is noted. */
  async #fetch(wanted: Source, hasCopy: boolean, note: Note): Promise<StoredMedia | null> {
    return this.#copy(wanted).catch(noted(note, hasCopy ? " The copy stays." : ""));
  }

  /** Tries again what may pass. Tokens that name the same URI get the same copy. */
  #copy(wanted: Source): Promise<StoredMedia> {
    const key = `${wanted.use} ${wanted.url}`;
    const known = this.#copies.get(key);
    if (known !== undefined) return known;
    const copying = this.#tryToCopy(wanted);
    if (key.length <= LONGEST) this.#copies.set(key, copying);
    return copying;
  }

  async #tryToCopy(wanted: Source, tries = 0): Promise<StoredMedia> {
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
    if (await isStored(database.read, collection.app_id, file.cid)) return null;
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

  /** Writes what is stored into the folder. A part of a file never has its name. @returns whether it is there. */
  async #export(cid: string, file: string, note: Note): Promise<boolean> {
    const draft = join(this.#deps.folder, `${(++this.#drafts).toString()}${PART}`);
    const written = writeFile(draft, this.#open(cid), { mode: 0o600, flush: true }).then(() => true);
    if ((await written.catch(noted(note))) === null) return false;
    await rename(draft, join(this.#deps.folder, file));
    return true;
  }
}

/** What handles the error of a source. Others are thrown. */
function noted(note: Note, more = "") {
  return (error: unknown) => {
    if (!(error instanceof MediaError)) throw error;
    note("missing", error.message + more);
    return null;
  };
}

/** Of a relative URI, the one beside its document. */
function beside(uri: string, said: SaidUri): string {
  return isRelative(uri) && typeof said === "object" ? (URL.parse(uri, said.uri)?.href ?? uri) : uri;
}

/** Whether a URI has no scheme. */
export function isRelative(uri: string): boolean {
  return !/^\s*[a-z][a-z0-9+.-]*:/i.test(uri);
}
