/** Thrown when the place where blocks are stored cannot be reached or does not accept blocks now. */
export class BlockStoreUnavailable extends Error {
  override readonly name = "BlockStoreUnavailable";
}
