import type { SliceToStore } from "../../../api/store/ledger/apply-range.ts";
import type { FinalBlocks } from "../../../api/store/requests/settle-final.ts";
import { hashOf } from "./rows.ts";

/** What the blocks of one range say, and which are final with it; what is not given, they do not say. */
export type RangeFields = Partial<SliceToStore & FinalBlocks> & { block: number; fork?: string };

/** One block as a range. `fork` names the chain that it is on: another name, another block. */
export function rangeOf({ block, fork = "main", ...fields }: RangeFields): SliceToStore {
  return {
    from: block,
    to: block,
    parentHash: hashOf(`${fork} ${(block - 1).toString()}`),
    blocks: [
      {
        number: block,
        hash: hashOf(`${fork} ${block.toString()}`),
        parent_hash: hashOf(`${fork} ${(block - 1).toString()}`),
        timestamp: block * 1000,
      },
    ],
    batches: [],
    cancelled: [],
    entries: [],
    edits: [],
    mintingStops: [],
    kinds: new Map(),
    relayOwner: "0xowner",
    foreignHoldings: [],
    reads: { answered: [], failed: [] },
    unknownTransaction: null,
    wallets: new Set(),
    forgetBlocksBefore: 0,
    ...fields,
  };
}
