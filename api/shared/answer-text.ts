import { StringDecoder } from "node:string_decoder";

/** Bytes that are kept of a receiver's answer to a webhook. */
export const MAX_ANSWER_BYTES = 1_024;

/** Whether a receiver answers a webhook with another URL. Nobody follows it. */
export function isRedirect(status: number | null): boolean {
  return status !== null && REDIRECTS.has(status);
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const REPLACEMENT = "\uFFFD";
/** All control characters but tabs and the ends of lines. */
const CONTROL = /(?![\t\n\r])\p{Cc}/gu;

/**
 * How an answer begins, as text that every database can store. A receiver may answer anything: pictures, compressed data, a
 * character that the limit cuts in two.
 * @param bytes the first `MAX_ANSWER_BYTES` of the answer. @param complete whether these are all.
 */
export function answerText(bytes: Buffer, complete: boolean): string | null {
  const text = complete ? bytes.toString() : new StringDecoder("utf8").write(bytes);
  const kept = withinLimit(text.replace(CONTROL, REPLACEMENT));
  return kept === "" ? null : kept;
}

/** A replaced byte becomes three, so the text may be longer than the bytes were. */
function withinLimit(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_ANSWER_BYTES) return text;
  return new StringDecoder("utf8").write(bytes.subarray(0, MAX_ANSWER_BYTES));
}
