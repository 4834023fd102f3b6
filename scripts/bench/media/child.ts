import { Program } from "../../scene/program.ts";

type Answer<T> = { result: T } | { error: string };

/** A process of the benchmark that does one order after the other. `answerOrders` is its other side. */
export class Child {
  readonly #process: Program;

  constructor(file: string, args: readonly string[]) {
    this.#process = new Program([file, ...args], { channel: true });
  }

  /** @throws Error of the child, or when it ends before it answers. */
  async ask<T>(order: object | string): Promise<T> {
    const answer = await this.#process.ask<Answer<T>>(order);
    if ("error" in answer) throw new Error(answer.error);
    return answer.result;
  }

  async stop(): Promise<void> {
    if (!this.#process.exited) this.#process.child.disconnect();
    await this.#process.gone();
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
