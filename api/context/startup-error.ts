/** Thrown when the service cannot start. The message says what to do. Here, because it is needed before the service is loaded. */
export class StartupError extends Error {
  override readonly name = "StartupError";
}
