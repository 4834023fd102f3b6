/** Thrown when the database cannot be used. The message says why, and what the operator can do. */
export class DatabaseError extends Error {
  override readonly name: string = "DatabaseError";
}

/** Thrown by `openExistingDatabase` when there is no database file. */
export class DatabaseMissing extends DatabaseError {
  override readonly name = "DatabaseMissing";
  readonly file: string;

  constructor(file: string) {
    super(
      `There is no database at ${file}. Set DATA_DIR (or DATABASE_URL) to that of the service, or start the service once: ` +
        "it creates the database.",
    );
    this.file = file;
  }
}
