/* What may be the media of a token. The service says the same of uploads and of what `copy_media` copies, `drop` before it sends anything. */

/** What a file is for. "any": nobody knows yet. */
export type MediaUse = "image" | "animation_url" | "any";

interface MediaFile {
  /** The media type that the bytes have. */
  type: string;
  /** In bytes. */
  size: number;
}

/** Ogg, MP4 and ASF, when their beginning does not say whether they hold pictures or sound. */
const CONTAINER = /^application\/(ogg|mp4|vnd\.ms-asf)$/;
/** Models have no common signature, so files of no known type pass. Zip holds models (USDZ) and pages. */
const ANIMATION =
  /^((image|video|audio|model)\/|text\/html$|application\/(pdf|zip|octet-stream|x-ft-fbx|x-ft-draco|vnd\.sketchup\.skp)$)/;

/** @returns what the file is and should not be, to stand after "is"; null: it may be used. */
export function faultOfMedia(use: MediaUse, file: MediaFile): string | null {
  if (file.size === 0) return "empty";
  const type = nameOfType(file.type);
  if (use === "any" || CONTAINER.test(type)) return null;
  if (use === "image") return /^(image|video)\//.test(type) ? null : `${describeMedia(file)}, not an image or a video`;
  return ANIMATION.test(type) ? null : `${describeMedia(file)}, not an image, a video, sound, a model or an HTML page`;
}

const NAMES: Readonly<Record<string, string>> = {
  "text/html": "an HTML page",
  "text/plain": "a text",
  "application/json": "a JSON document",
  "application/xml": "an XML document",
  "application/pdf": "a PDF document",
  "application/gzip": "a compressed file (gzip)",
  "application/octet-stream": "a file of unknown type",
};
const KINDS: Readonly<Record<string, string>> = {
  image: "an image",
  video: "a video",
  audio: "sound",
  model: "a model",
};

/** What to do with a `data:` URI that is too large. */
export const UPLOAD_INSTEAD = "Send the file to POST /v1/media, and its `uri` here.";

/** "an HTML page of 1,204 bytes" */
export function describeMedia({ type, size }: MediaFile): string {
  const name = nameOfType(type);
  const kind = KINDS[name.split("/")[0] ?? ""];
  const noun = NAMES[name] ?? (kind === undefined ? `a file (${name})` : `${kind} (${name})`);
  return `${noun} of ${size.toLocaleString("en-US")} ${size === 1 ? "byte" : "bytes"}`;
}

/** `image/png; q=1` as `image/png` */
function nameOfType(type: string): string {
  return type.split(";")[0]?.trim().toLowerCase() ?? "";
}
