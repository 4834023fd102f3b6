/** Thrown when the database cannot be used. The message says why, and what the operator can do. */
export class DatabaseError extends Error {
  override readonly name: string = "DatabaseError";
}

/**
 * Thrown when the database cannot serve at the moment: the connection is lost, the server is restarting or busy. The same
 * call may succeed later. A write that fails so may have been committed.
 */
export class DatabaseUnavailable extends DatabaseError {
  override readonly name = "DatabaseUnavailable";
}

/** Thrown by `openExistingDatabase` when there is no database file, or when the database has no tables. */
export class DatabaseMissing extends DatabaseError {
  override readonly name = "DatabaseMissing";
  /** Path of the SQLite file, or the name of the database on its server. */
  readonly place: string;

  constructor(place: string) {
    super(
      `There is no database at ${place}. Set DATA_DIR (or DATABASE_URL) to that of the service, or start the service once: ` +
        "it creates the database.",
    );
    this.place = place;
  }
}
