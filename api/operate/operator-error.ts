/** Thrown when a command cannot do what the operator asked for. The message is printed: it says why, and what to do. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
}
