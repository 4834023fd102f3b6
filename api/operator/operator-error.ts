/** What an operator asked for cannot be done; the message says why, in words for the terminal. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
}
