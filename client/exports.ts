import { ConnectionFailed, refusalOf } from "./errors.ts";

/** Options of `exportHolders` and `exportWallets`. */
export interface ExportOptions {
  /** Ends the export. Leaving the loop does the same. */
  signal?: AbortSignal;
}

interface Answered {
  data?: ReadableStream<Uint8Array> | null | undefined;
  error?: unknown;
  response: Response;
}

/** The rows of an answer with a JSON value on each line, as they arrive. @throws ApiRefusal, ConnectionFailed */
export async function* rowsOf<Row>(call: () => Promise<Answered>): AsyncGenerator<Row, undefined> {
  const { data, error, response } = await call();
  if (data == null) throw refusalOf(response, error);
  const [reader, decoder] = [data.getReader(), new TextDecoder()];
  let rest = "";
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const lines = (rest + decoder.decode(part.value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) yield JSON.parse(line) as Row;
    }
  } catch (cause) {
    // The rows so far are right, and not all.
    throw cause instanceof TypeError ? new ConnectionFailed(1, cause) : cause;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
