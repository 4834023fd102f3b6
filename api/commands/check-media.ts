import { type Mint, MEDIA_FIELDS } from "../domain/command.ts";
import { ApiError } from "../domain/error-codes.ts";

const SCHEMES = ["http:", "https:", "data:", "ipfs:"];

/**
 * Checks the media URLs of a mint before the media are copied.
 * @returns whether there are any.
 * @throws ApiError `validation_failed`, naming the fields
 */
export function checkMedia(command: Mint): boolean {
  if (command.kind === "mint-erc1155" || command.metadata === null) return false;
  const { metadata } = command;
  const given = MEDIA_FIELDS.filter((field) => metadata[field] !== undefined && metadata[field] !== "");
  const wrong = given.filter((field) => !SCHEMES.includes(URL.parse((metadata[field] ?? "").trim())?.protocol ?? ""));
  if (wrong.length > 0) {
    const message = "Must have one of the schemes http:, https:, ipfs:, data: when copy_media is true.";
    throw new ApiError(
      "validation_failed",
      wrong.map((field) => ({ field, code: "invalid_format", message })),
    );
  }
  return given.length > 0;
}
