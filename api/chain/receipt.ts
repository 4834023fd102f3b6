import { z } from "zod";

import { hash, quantity, small } from "./json-rpc-values.ts";

/** The receipt of a mined transaction. */
export const receipt = z
  .object({
    blockNumber: small,
    blockHash: hash,
    status: small,
    gasUsed: quantity,
    /** Some nodes of old software leave it out. */
    effectiveGasPrice: quantity.nullish(),
    /** Rollups of the OP Stack charge the data of a transaction in addition. */
    l1Fee: quantity.nullish(),
  })
  .transform(({ effectiveGasPrice: price, l1Fee, ...fields }) => ({
    ...fields,
    /** What the transaction paid, in wei; null: the node does not tell. */
    feeWei: price == null ? null : fields.gasUsed * price + (l1Fee ?? 0n),
  }));

export type Receipt = z.infer<typeof receipt>;
