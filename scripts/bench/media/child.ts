import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

type Answer<T> = { result: T } | { error: string };

/** A process of the benchmark that does one order after the other. `answerOrders` is its other side. */
export class Child {
  readonly #process: ChildProcess;

  constructor(file: string, args: readonly string[], env: Record<string, string> = {}) {
    this.#process = fork(file, args, { env: { ...process.env, ...env } });
  }

  /** @throws Error of the child, or when it ends before it answers. */
  ask<T>(order: object | string): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const gone = () => {
        this.#process.off("message", answered);
        reject(new Error("a process of the benchmark ended before it answered"));
      };
      const answered = (message: unknown) => {
        this.#process.off("exit", gone);
        const answer = message as Answer<T>;
        if ("error" in answer) reject(new Error(answer.error));
        else resolve(answer.result);
      };
      this.#process.once("exit", gone);
      this.#process.once("message", answered);
      this.#process.send(order);
    });
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = once(this.#process, "exit");
    this.#process.disconnect();
    await gone;
  }
}

/** Runs in the child: answers each order of `Child.ask`. Its end of the channel is the end of the process. */
export function answerOrders(handle: (order: never) => Promise<unknown>, close: () => Promise<void>): void {
  process.on("message", (order) => {
    handle(order as never).then(
      (result) => process.send?.({ result }),
      (error: unknown) =>
        process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
  process.once("disconnect", () => {
    void close().finally(() => process.exit());
  });
}
