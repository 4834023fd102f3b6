import { ApiError } from "../domain/error-codes.ts";
import { UNKNOWN_TYPE } from "../ipfs/media-type.ts";

/** Other names of the same type. */
const ALIASES: Readonly<Record<string, string>> = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/svg": "image/svg+xml",
  "image/ico": "image/x-icon",
  "image/vnd.microsoft.icon": "image/x-icon",
};
/** Types of containers whose bytes do not say whether they hold sound or pictures. */
const CONTAINERS = /^(application\/(ogg|mp4)|video\/(mp4|webm|quicktime|x-matroska)|audio\/(mp4|x-m4a))$/;
/** The parts before the slash whose files are recognised by their first bytes. */
const RECOGNISED = ["image", "video", "audio"];
/** Bodies that carry more than the bytes of a file. */
const WRAPPED = /^(multipart\/|application\/x-www-form-urlencoded$)/;

/** `IMAGE/JPG; q=1` as `image/jpeg`; null when the caller left the type to the service. */
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
  return ALIASES[name] ?? name;
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
  if (declared === detected) return true;
  const [kind, found] = [declared.split("/")[0] ?? "", detected.split("/")[0] ?? ""];
  if (kind === "image" || found === "image") return false;
  if (!RECOGNISED.includes(kind) && !RECOGNISED.includes(found)) return true;
  return kind === found || CONTAINERS.test(detected);
}
