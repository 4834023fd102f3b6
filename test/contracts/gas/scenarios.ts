import { type Hardfork, openBench } from "./bench.ts";
import { measureCreation } from "./creation.ts";
import { measureErc1155Mints, measureErc721Mints } from "./mints.ts";
import type { Rows } from "./rows.ts";
import { measureTransfers } from "./transfers.ts";

/** Measures every row of the gas table once, under the rules of one hard fork. */
export async function measure(hardfork: Hardfork): Promise<Rows> {
  const bench = await openBench(hardfork);
  return {
    ...(await measureCreation(bench)),
    ...(await measureErc721Mints(bench)),
    ...(await measureErc1155Mints(bench)),
    ...(await measureTransfers(bench)),
  };
}
