/**
 * The clean-up steps of a fixture, run in reverse order. Every step runs, even after another has failed, so that no
 * process, server or folder is left behind.
 */
export class Cleanups {
  #steps: (() => Promise<unknown>)[] = [];

  add(step: () => Promise<unknown>): void {
    this.#steps.push(step);
  }

  /** @throws the error of the step that failed, or an AggregateError when several did; always after the last step. */
  async run(): Promise<void> {
    const errors: unknown[] = [];
    for (const step of this.#steps.splice(0).reverse()) {
      await step().catch((error: unknown) => errors.push(error));
    }
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) {
      throw new AggregateError(errors, `Several clean-up steps failed: ${errors.map(String).join("; ")}`);
    }
  }
}
