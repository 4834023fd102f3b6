import { toUtf8String, Utf8ErrorFuncs } from "ethers";

/** Text from a stranger's contract as every database can store it: well-formed Unicode without NUL. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

/** Bytes that should be UTF-8; whatever is not becomes the replacement character. */
export function textOfBytes(bytes: string): string {
  return cleanText(toUtf8String(bytes, Utf8ErrorFuncs.replace));
}
