import { toUtf8String, Utf8ErrorFuncs } from "ethers";

/** Text from a foreign contract in a form that every database can store: well-formed Unicode without NUL. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

/** Decodes UTF-8. Invalid bytes become the replacement character. */
export function textOfBytes(bytes: string): string {
  return cleanText(toUtf8String(bytes, Utf8ErrorFuncs.replace));
}
