import { ApiError } from "../domain/error-codes.ts";

/**
 * Refuses metadata that is larger than the limit, unless it is not larger than what is stored: an older version may have stored more.
 * @param most in bytes of the stored JSON in UTF-8.
 * @param stored the metadata that it replaces.
 * @throws ApiError `validation_failed`, naming the largest field
 */
export function refuseLargeMetadata(metadata: object, most: number, stored: object = {}): void {
  const bytes = sizeOf(metadata);
  if (bytes <= most || bytes <= sizeOf(stored)) return;
  const largest = Object.entries(metadata)
    .map(([field, value]) => ({ field, bytes: sizeOf(value) }))
    .reduce((one, other) => (other.bytes > one.bytes ? other : one));
  const message = `The metadata has ${bytes.toString()} bytes as JSON, and ${most.toString()} are allowed (MAX_METADATA_BYTES). This field is the largest, with ${largest.bytes.toString()}.`;
  throw new ApiError("validation_failed", [{ field: largest.field, code: "too_long", message }]);
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
