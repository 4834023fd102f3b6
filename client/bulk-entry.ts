// The entry `@moneta/client/bulk` of the package. It is separate, so that pages without bulk mints do not load it.
export { BulkMint, type BulkCall, type BulkItems, bulkMint, type BulkOptions, BulkStopped } from "./bulk.ts";
export {
  advance,
  type BulkBatch,
  type BulkFailure,
  type BulkItem,
  type BulkProgress,
  type BulkRequest,
  type BulkResult,
  type BulkStep,
  itemsIn,
  newProgress,
} from "./bulk-progress.ts";
