import { AnswerTooLarge } from "./errors.ts";

/** Undefined when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Providers refuse calls with pages of HTML. The status then says more than the body.
    return undefined;
  }
}

/** Reads an answer as a stream and stops at the limit, so that no answer can fill the memory. @throws AnswerTooLarge */
export async function readText(response: Response, limit: number): Promise<string> {
  if (response.body === null) return "";
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop by an error cancels the stream, which closes the connection.
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > limit) throw new AnswerTooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
