import { parseExact } from "../rules/exact-json.ts";
import { faultOfJson, placeOfField } from "../rules/json-fault.ts";
import { type Layout, layoutOf } from "./layout.ts";
import { folderOf, idOfEntry, imageOf, Names, stemOf, stemOfEntry } from "./names.ts";
import { ADDRESS, ATTRIBUTE, FILE, OWNER, readTable, SUPPLY, type TableRow, TOKEN_ID, URI, USER } from "./table.ts";
import {
  checkMetadata,
  faultOfInteger,
  faultOfText,
  faultOfUnlockable,
  faultOfUri,
  idOfName,
  isUri,
  LIMITS,
  type MediaField,
  type Metadata,
  TEXT_METADATA,
  readSupply,
  readTokenId,
} from "./values.ts";

/** Who gets a token: an address, or a user of the app. */
export type Owner = { address: string } | { user: string };

/** A token as the folder describes it. */
export interface FolderToken {
  /** Where it is described: a JSON file, an entry of a list, or a row of the table. */
  source: string;
  /** The source as version 0.3.0 named it, where that differs. Checksums of drops have it. */
  earlierSource?: string;
  /** ERC1155 only: decimal digits. */
  tokenId: string | null;
  /** ERC721 only: the id that the folder says, such as that of the token in another contract. The new contract gives its own. */
  oldId: string | null;
  /** ERC1155 only: how many copies. */
  supply: string | null;
  /** null: who gets all tokens without an owner. */
  owner: Owner | null;
  reference: string | null;
  unlockable: string | null;
  /** Self-hosted ERC1155 only: where its metadata is. */
  uri?: string;
  metadata: Metadata;
  /** Files in the folder that become these fields. */
  files: Partial<Record<MediaField, string>>;
}

/** What is wrong with a file or a row. */
export interface Problem {
  source: string;
  message: string;
}

/** What a folder says, and what is wrong with it. */
export interface FolderContents {
  tokens: FolderToken[];
  problems: Problem[];
  /** What the reader should know, as sentences. */
  notes: string[];
  /** Fields of the metadata that a mint does not take. They are left out. */
  ignored: Set<string>;
  /** Whether these are pictures without metadata. */
  pictures: boolean;
}

/** The text of a file, or why it cannot be read. */
export type TextOf = (name: string) => { text: string } | { problem: string };

/** A folder to read. */
export interface Folder {
  /** All files, relative to the folder, with "/". */
  names: readonly string[];
  /** Must know the files that `textNames` names. */
  textOf: TextOf;
  type: "ERC721" | "ERC1155";
  /** @returns the address with its checksum; null: the checksum is wrong. Without it, checksums are not looked at. */
  readAddress?: (address: string) => string | null;
  /** Whether a token may have no picture. Default: that is a problem. */
  pictureless?: boolean;
}

/**
 * Reads what a folder says: names and texts, and no file system. Who calls it looks at the pictures themselves.
 * @throws FolderProblem when it has no form that is known
 * @example
 * const { tokens, problems, notes } = readFolder({ names: [...files.keys()], textOf: (name) => textOfBytes(files.get(name)!), type: "ERC721" });
 * for (const { source, message } of problems) console.error(`${source}: ${message}`);
 */
export function readFolder(folder: Folder): FolderContents {
  const layout = layoutOf(folder.names, folder.textOf);
  const reader = new Reader(folder, layout);
  if (layout.format !== null) reader.contents.notes.push(`This is the output of ${layout.format}.`);
  if (layout.left.length > 0)
    reader.contents.notes.push(`These files describe no token and are left alone: ${layout.left.join(", ")}.`);
  switch (layout.kind) {
    case "pictures":
      reader.readPictures();
      break;
    case "files":
      reader.readFiles();
      break;
    case "list":
      reader.readList();
      break;
    case "table":
      reader.readRows();
  }
  return reader.contents;
}

type Fail = (message: string, field?: string) => void;

class Reader {
  readonly contents: FolderContents;
  readonly #folder: Folder;
  readonly #layout: Layout;
  readonly #names: Names;
  /** The pictures by their names without extension. */
  readonly #pictures = new Map<string, string[]>();

  constructor(folder: Folder, layout: Layout) {
    this.#folder = folder;
    this.#layout = layout;
    this.#names = new Names(folder.names);
    const pictures = layout.kind === "pictures";
    this.contents = { tokens: [], problems: [], notes: [], ignored: new Set(), pictures };
    for (const file of layout.pictures) {
      const stem = stemOf(file).normalize("NFC");
      this.#pictures.set(stem, [...(this.#pictures.get(stem) ?? []), file]);
    }
  }

  /** Each file is a token that has its name. */
  readPictures(): void {
    const { pictures } = this.#layout;
    // Either all names are token ids, or the files are counted.
    const numbered = pictures.every((file) => this.#idOf(stemOf(file)) !== null);
    for (const [index, source] of pictures.entries()) {
      const name = stemOf(source);
      const token = emptyToken(source);
      token.tokenId = numbered ? this.#idOf(name) : (index + 1).toString();
      token.oldId = numbered ? this.#oldIdOf(name) : null;
      this.#readMetadata(token, { name }, this.#failAt(source));
      token.files.image = source;
      this.contents.tokens.push(token);
    }
  }

  /** `json/1.json` with `images/1.png`, or both in one folder. */
  readFiles(): void {
    const used = new Set<string>();
    for (const source of this.#layout.files) {
      const stem = stemOf(source);
      // Also for a file with faults: its picture is not the fault.
      for (const file of this.#ownPictures(stem)) used.add(file);
      const text = this.#textOf(source);
      const read = text === null ? null : this.#jsonOf(source, text);
      if (text === null || read === null) continue;
      const token = this.#readToken(read.value, { source, text, stem });
      token.tokenId = this.#idOf(stem);
      token.oldId = this.#oldIdOf(idOfEntry(read.value)) ?? this.#oldIdOf(stem);
      for (const file of Object.values(token.files)) used.add(file);
    }
    for (const file of this.#layout.pictures) {
      if (!used.has(file))
        this.#failAt(file)(
          `No JSON file in ${folderOf(this.#layout.files[0] ?? "") || "the folder"} belongs to this picture.`,
        );
    }
  }

  /** One file with the metadata of all tokens. */
  readList(): void {
    const [source = ""] = this.#layout.files;
    const text = this.#textOf(source);
    const read = text === null ? null : this.#jsonOf(source, text);
    if (text === null || read === null || !Array.isArray(read.value)) return;
    const entries = read.value as unknown[];
    const stems = entries.map((entry, index) => stemOfEntry(entry) ?? (index + 1).toString());
    const isNamed = stems.some((stem) => this.#ownPictures(stem).length > 0);
    const byOrder = isNamed ? null : this.#picturesByOrder(entries.map(imageOf));
    for (const [index, entry] of entries.entries()) {
      const place = `${source}, entry ${(index + 1).toString()}`;
      const stem = stems[index] ?? "";
      const id = idOfEntry(entry);
      if (id !== null && this.#folder.type === "ERC1155" && readTokenId(id) === null) {
        this.#failAt(place)(faultOfInteger(id, "from 0 to 2^256-1"), TOKEN_ID);
        continue;
      }
      const token = this.#readToken(entry, {
        source: place,
        text: null,
        stem: byOrder === null ? stem : null,
        picture: byOrder?.[index],
      });
      token.tokenId = this.#idOf(stem);
      token.oldId = this.#oldIdOf(stemOfEntry(entry));
    }
  }

  readRows(): void {
    const [source = ""] = this.#layout.files;
    const text = this.#textOf(source);
    if (text === null) return;
    const table = readTable(text, COLUMNS);
    if (table.format !== null) this.contents.notes.push(`This is the output of ${table.format}.`);
    for (const { line, message } of table.problems) {
      // The row of the columns is a matter of the whole table.
      this.#failAt(line === null || line === 1 ? source : `${source}, line ${line.toString()}`)(message);
    }
    const byOrder = table.columns.some((column) => column === FILE || column === TOKEN_ID)
      ? undefined
      : (this.#picturesByOrder(table.rows.map(({ cells }) => cells.get("image") ?? "")) ?? []);
    const hasPictures =
      table.columns.includes("image") || (byOrder?.length ?? 1) > 0 || this.#folder.pictureless === true;
    if (!hasPictures && table.rows.length > 0) {
      this.#failAt(source)("A column file or token_id is needed.");
    }
    for (const [index, row] of table.rows.entries()) this.#readRow(row, source, byOrder?.[index] ?? (byOrder && null));
  }

  /** @param picture by the order of the rows; null: the row says it; undefined: the row must say file or token_id */
  #readRow({ line, end, cells }: TableRow, table: string, picture: string | null | undefined): void {
    const source = `${table}, line ${line.toString()}`;
    const token = emptyToken(source);
    if (end !== line) token.earlierSource = `${table}, line ${end.toString()}`;
    const before = this.contents.problems.length;
    const fail = this.#failAt(source);
    const [file, id, supply] = [cells.get(FILE), cells.get(TOKEN_ID), cells.get(SUPPLY)];
    const attributes = [...cells]
      .filter(([column]) => column.startsWith(ATTRIBUTE))
      .map(([column, value]) => ({ trait_type: column.slice(ATTRIBUTE.length), value }));
    const fields = TEXT_METADATA.flatMap((name) => (cells.has(name) ? [[name, cells.get(name)] as const] : []));
    const named = {
      ...Object.fromEntries(fields),
      ...(attributes.length > 0 && { attributes }),
      ...(file !== undefined && { image: file }),
    };
    this.#readMetadata(token, named, fail);
    const stem = id ?? (file === undefined ? null : stemOf(file));
    token.tokenId = id === undefined ? this.#idOf(stem ?? "") : readTokenId(id);
    token.oldId = this.#oldIdOf(token.tokenId);
    if (id !== undefined && token.tokenId === null) fail(faultOfInteger(id, "from 0 to 2^256-1"), TOKEN_ID);
    token.supply = supply === undefined ? null : readSupply(supply);
    if (supply !== undefined && token.supply === null) fail(faultOfInteger(supply, "from 1 to 2^128-1"), SUPPLY);
    if (file === undefined && id === undefined && picture === undefined && this.#folder.pictureless !== true)
      fail("Give file or token_id.");
    this.#readOwners(token, cells, fail);
    token.reference = cells.get("reference") ?? null;
    token.unlockable = cells.get("unlockable_content") ?? null;
    const uri = cells.get(URI);
    if (uri !== undefined) token.uri = uri;
    const faults = {
      reference: faultOfText(token.reference ?? "", LIMITS.reference),
      unlockable_content: faultOfUnlockable(token.unlockable ?? ""),
      uri: uri === undefined ? null : faultOfUri(uri),
    };
    for (const [column, wrong] of Object.entries(faults)) if (wrong !== null) fail(wrong, column);
    if (this.contents.problems.length > before) return;
    this.#linkMedia(token, { stem, picture: picture ?? undefined, fail });
    if (this.contents.problems.length === before) this.contents.tokens.push(token);
  }

  #readOwners(token: FolderToken, cells: TableRow["cells"], fail: Fail): void {
    const given = [OWNER, ADDRESS, USER].filter((column) => cells.has(column));
    const [column] = given;
    if (given.length > 1) fail(`Fill in one of ${given.join(", ")}.`);
    else if (column === USER) token.owner = { user: cells.get(USER) ?? "" };
    else if (column !== undefined) token.owner = this.#readOwner(cells.get(column), fail, column);
    if (column === ADDRESS && token.owner !== null && "user" in token.owner)
      fail("Must be an address: 0x and 40 hex digits.", ADDRESS);
  }

  /** An address, or else a user. Whether a name may become a user is known when the users of the app are. */
  #readOwner(value: unknown, fail: Fail, field: string): Owner | null {
    const wrong = faultOfText(value, LIMITS.userIdentifier);
    if (wrong !== null) fail(wrong, field);
    if (typeof value !== "string" || value.trim() === "" || wrong !== null) return null;
    const text = value.trim();
    if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return { user: value };
    const address = this.#folder.readAddress === undefined ? text : this.#folder.readAddress(text);
    if (address === null) fail("The checksum is wrong. Correct the address, or write it in lower case.", field);
    return address === null ? null : { address };
  }

  /** A token of JSON. It is kept when it has no fault. */
  #readToken(
    value: unknown,
    {
      source,
      text,
      stem,
      picture,
    }: { source: string; text: string | null; stem: string | null; picture?: string | undefined },
  ): FolderToken {
    const token = emptyToken(source);
    const before = this.contents.problems.length;
    const fail: Fail = (message, field) => {
      const place = text === null || field === undefined ? null : placeOfField(text, field);
      const at =
        place === null ? source : `${source}, line ${place.line.toString()}, column ${place.column.toString()}`;
      this.#failAt(at)(message, field);
    };
    this.#readMetadata(token, value, fail);
    const owner = (value as { owner?: unknown } | null)?.owner ?? null;
    if (owner !== null) token.owner = this.#readOwner(owner, fail, "owner");
    if (this.contents.problems.length === before) this.#linkMedia(token, { stem, picture, fail });
    if (this.contents.problems.length === before) this.contents.tokens.push(token);
    return token;
  }

  #readMetadata(token: FolderToken, value: unknown, fail: Fail): void {
    const { metadata, problems, ignored } = checkMetadata(value);
    if (this.#folder.type === "ERC721" && metadata.decimals !== undefined) {
      Reflect.deleteProperty(metadata, "decimals");
      ignored.push("decimals");
    }
    token.metadata = metadata;
    for (const { field, message } of problems) fail(message, field ?? undefined);
    for (const field of ignored) if (field !== "owner") this.contents.ignored.add(field);
  }

  /**
   * Finds the files of a token and moves them from its metadata. A picture of the token's own name comes before a URI in
   * `image`: generators write a placeholder there.
   * @param stem the picture's name without extension; null when the token names its file @param picture that of its order
   */
  #linkMedia(
    { metadata, files }: FolderToken,
    { stem, picture, fail }: { stem: string | null; picture: string | undefined; fail: Fail },
  ): void {
    const link = (field: MediaField, name: string, from: readonly string[]) => {
      const found = this.#names.find(name, from);
      if ("problem" in found) fail(found.problem, field);
      else {
        files[field] = found.file;
        Reflect.deleteProperty(metadata, field);
      }
    };
    const { image, image_data: data, animation_url: animation } = metadata;
    const own = picture === undefined ? this.#ownPictures(stem ?? "") : [picture];
    const { places } = this.#layout;
    // Tables of thirdweb may name the number of a picture.
    const numbered = image !== undefined && /^[0-9]+$/.test(image) ? this.#ownPictures(image) : [];
    if (numbered.length === 1 && numbered[0] !== undefined) link("image", numbered[0], [""]);
    else if (image !== undefined && !isUri(image)) link("image", image, places);
    else if (own.length === 1 && own[0] !== undefined) link("image", own[0], [""]);
    else if (own.length > 1) fail(`more than one file fits: ${own.join(", ")}. Name one of them in image.`, "image");
    else if (image === undefined && data === undefined && this.#folder.pictureless !== true)
      fail(`no picture found. Add images/${stem ?? "NAME"}.png, or set image.`, "image");
    else if (image !== undefined && PLACEHOLDER.test(image)) {
      fail(
        `"${image}" is a placeholder of the generator. Put the pictures into images/, or write where they are.`,
        "image",
      );
    }
    if (animation !== undefined && !isUri(animation)) link("animation_url", animation, places);
  }

  #ownPictures(stem: string): string[] {
    return this.#pictures.get(stem.normalize("NFC")) ?? [];
  }

  /** Pictures whose order says to which token they belong. @param images what the tokens say @returns null: not by order */
  #picturesByOrder(images: readonly string[]): readonly string[] | null {
    const { pictures } = this.#layout;
    const silent = images.every((image) => image === "");
    if (!silent || pictures.length === 0 || pictures.length !== images.length) return null;
    this.contents.notes.push("The pictures belong to the tokens by the order of their names.");
    return pictures;
  }

  /** ERC-1155 names files by hex digits. */
  #idOf(stem: string): string | null {
    return this.#folder.type === "ERC1155" ? idOfName(stem) : readTokenId(stem);
  }

  #oldIdOf(said: string | null): string | null {
    return this.#folder.type === "ERC721" && said !== null ? readTokenId(said) : null;
  }

  #textOf(source: string): string | null {
    const read = this.#folder.textOf(source);
    if ("text" in read) return read.text.replace(/^\uFEFF/, "");
    this.#failAt(source)(read.problem);
    return null;
  }

  #jsonOf(source: string, text: string): { value: unknown } | null {
    if (text.trim() === "") {
      this.#failAt(source)("The file is empty.");
      return null;
    }
    const fault = faultOfJson(text);
    if (fault === null) {
      try {
        return { value: parseExact(text) };
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        this.#failAt(source)(error.message);
        return null;
      }
    }
    const { line, column, reason } = fault;
    this.#failAt(`${source}, line ${line.toString()}, column ${column.toString()}`)(
      `The file is not valid JSON: ${reason}.`,
    );
    return null;
  }

  #failAt(source: string): Fail {
    return (message, field) =>
      this.contents.problems.push({ source, message: field === undefined ? message : `${field}: ${message}` });
  }
}

const COLUMNS = [
  FILE,
  TOKEN_ID,
  SUPPLY,
  OWNER,
  ADDRESS,
  USER,
  URI,
  "reference",
  "unlockable_content",
  ...TEXT_METADATA,
];

const PLACEHOLDER = /NewUriToReplace/i;

function emptyToken(source: string): FolderToken {
  return {
    source,
    tokenId: null,
    oldId: null,
    supply: null,
    owner: null,
    reference: null,
    unlockable: null,
    metadata: {},
    files: {},
  };
}
