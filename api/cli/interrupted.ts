import { OperatorError } from "../operate/operator-error.ts";

/** Runs work whose signal aborts when the operator presses Ctrl-C. @param sentence what the operator reads then. */
export async function untilInterrupted<T>(sentence: string, work: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const interrupted = new AbortController();
  const interrupt = () => {
    interrupted.abort(new OperatorError(sentence));
  };
  process.once("SIGINT", interrupt);
  try {
    return await work(interrupted.signal);
  } finally {
    process.off("SIGINT", interrupt);
  }
}
