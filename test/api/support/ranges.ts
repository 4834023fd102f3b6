import type { SliceToStore } from "../../../api/store/ledger/apply-range.ts";
import { hashOf } from "./rows.ts";

/** What the blocks of one range say; what is not given, they do not say. */
export type RangeFields = Partial<SliceToStore> & { block: number; fork?: string };

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
    unknownTransaction: null,
    foreignHoldings: [],
    wallets: new Set(),
    confirmed: 0,
    failuresUpTo: Infinity,
    forgetBlocksBefore: 0,
    ...fields,
  };
}
