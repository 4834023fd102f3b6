import { UNKNOWN_TYPE } from "../content/media-type.ts";
import { ApiError } from "../domain/error-codes.ts";

/** Other names of the same type. A type begins with `x-` until it is registered, so names are compared without. */
const ALIASES: Readonly<Record<string, string>> = {
  "image/jpg": "image/jpeg",
  "image/jpe": "image/jpeg",
  "image/jfif": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/apng": "image/png",
  "image/vnd.mozilla.apng": "image/png",
  "image/svg": "image/svg+xml",
  "image/svg-xml": "image/svg+xml",
  "application/svg+xml": "image/svg+xml",
  "image/ico": "image/icon",
  "image/vnd.microsoft.icon": "image/icon",
  "image/ms-bmp": "image/bmp",
  "image/windows-bmp": "image/bmp",
  "image/tif": "image/tiff",
  "image/avif-sequence": "image/avif",
  "image/heic-sequence": "image/heic",
  "image/heif-sequence": "image/heif",
  "image/jpeg2000": "image/jp2",
  "image/photoshop": "image/vnd.adobe.photoshop",
  "application/photoshop": "image/vnd.adobe.photoshop",
};
/** HEIF is the container of the other two. Its files need not say what is in it. */
const HEIF = ["image/heif", "image/heic", "image/avif"];
/** SVG is XML. */
const SVG = ["image/svg+xml", "application/xml", "text/xml"];
/** Types of containers whose bytes do not say whether they hold sound or pictures. */
const CONTAINERS =
  /^(application\/(ogg|mp4|vnd\.ms-asf)|video\/(mp4|webm|quicktime|(x-)?matroska|ogg|3gpp2?|x-m4v)|audio\/(mp4|x-m4a|ogg))$/;
/** The parts before the slash whose files are recognised by their first bytes. */
const RECOGNISED = ["image", "video", "audio"];
/** Bodies that carry more than the bytes of a file. */
const WRAPPED = /^(multipart\/|application\/x-www-form-urlencoded$)/;

/** `IMAGE/JPG; q=1` as `image/jpg`; null when the caller left the type to the service. */
export function declaredType(header: string | null): string | null {
  const name = (header ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (name === "" || name === UNKNOWN_TYPE) return null;
  if (!/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(name) || WRAPPED.test(name)) {
    const message =
      "Send the bytes of the file itself, with the file's media type or `application/octet-stream` as Content-Type. Forms cannot be uploaded.";
    throw new ApiError("unsupported_media_type", [{ field: "Content-Type", code: "unsupported", message }], {
      message,
    });
  }
  return name;
}

/**
 * Compares the declared type with the one that the bytes have. It finds wrong and damaged files; the service trusts only
 * the bytes.
 * @throws ApiError `validation_failed`
 */
export function requireType(declared: string | null, detected: string): void {
  if (declared === null || fits(declared, detected.split(";")[0] ?? "")) return;
  const message = `Declares ${declared}, but the bytes are ${detected === UNKNOWN_TYPE ? "of no known type" : detected}. Check the file, or send it as application/octet-stream.`;
  throw new ApiError("validation_failed", [{ field: "Content-Type", code: "mismatch", message }]);
}

function fits(declared: string, detected: string): boolean {
  const [said, is] = [canonical(declared), canonical(detected)];
  if (said === is) return true;
  if (is === "image/svg+xml") return SVG.includes(said);
  if (HEIF.includes(said) && HEIF.includes(is)) return said === "image/heif" || is === "image/heif";
  const [kind, found] = [said.split("/")[0] ?? "", is.split("/")[0] ?? ""];
  if (kind === "image" || found === "image") return false;
  if (!RECOGNISED.includes(kind) && !RECOGNISED.includes(found)) return true;
  return kind === found || CONTAINERS.test(detected);
}

function canonical(type: string): string {
  const name = type.replace(/^(image|application)\/x-/, "$1/");
  return ALIASES[name] ?? name;
}
