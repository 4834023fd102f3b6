/** Metadata fields that a mint takes as text. */
export const TEXT_FIELDS = [
  "name",
  "description",
  "image",
  "external_url",
  "background_color",
  "animation_url",
  "youtube_url",
] as const;
export type TextField = (typeof TEXT_FIELDS)[number];

export type Metadata = Partial<Record<TextField, string>> & { attributes?: unknown[] };

/** A token as the folder describes it. */
export interface FolderToken {
  /** Where it is described: a JSON file, or a row of the table. */
  source: string;
  /** ERC1155 only: decimal digits. */
  tokenId: string | null;
  /** ERC1155 only: from the table. */
  supply: string | null;
  metadata: Metadata;
  /** Files in the folder that become these fields. */
  media: { image?: MediaFile; animation_url?: MediaFile };
}

export type MediaField = keyof FolderToken["media"];

export interface MediaFile {
  /** Relative to the folder. */
  file: string;
  type: string;
  bytes: number;
  sha256: string;
}

/** What is wrong with a file or a row. */
export interface Problem {
  source: string;
  message: string;
}

export interface FolderContents {
  tokens: FolderToken[];
  problems: Problem[];
  /** Fields of the metadata that a mint does not take. They are left out. */
  ignored: Set<string>;
}

/** Fields that hold a file or a URI. */
export function isUri(text: string): boolean {
  return /^(https?|ipfs|ar|data):/i.test(text);
}
