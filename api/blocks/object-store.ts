/** A place for bytes under names. Names are never used twice, so an object never changes. */
export interface ObjectStore {
  /** Identifies the place. */
  readonly name: string;
  put(object: string, bytes: Uint8Array): Promise<void>;
  /** @returns null when there is no such object. */
  get(object: string): Promise<Uint8Array | null>;
  /** Deletes objects. Those that do not exist are skipped. */
  delete(objects: readonly string[]): Promise<void>;
  /** Why objects cannot be stored or read, and what to do about it; null when they can. */
  problem(): Promise<string | null>;
}
