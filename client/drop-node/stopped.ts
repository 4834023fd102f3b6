/**
 * A drop cannot go on. The message says why, and what to do next.
 * @example
 * try {
 *   await runDrop(options);
 * } catch (error) {
 *   if (!(error instanceof DropStopped)) throw error;
 *   console.error(error.message);
 * }
 */
export class DropStopped extends Error {
  override readonly name = "DropStopped";
}
