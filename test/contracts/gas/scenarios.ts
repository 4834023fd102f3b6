import { type Hardfork, openBench } from "./bench.ts";
import { measureCreation } from "./creation.ts";
import { measureBlockedHolders, measureHolders } from "./holders.ts";
import { measureErc1155Mints, measureErc721Mints } from "./mints.ts";
import type { Rows } from "./rows.ts";
import { measureErc721Transfers, measureTransfers } from "./transfers.ts";

/** Measures every row of the gas table once, under the rules of one hard fork. */
export async function measure(hardfork: Hardfork): Promise<Rows> {
  const bench = await openBench(hardfork, "standard");
  const rows: Rows = {
    ...(await measureCreation(bench)),
    ...(await measureErc721Mints(bench)),
    ...(await measureErc1155Mints(bench)),
    ...(await measureTransfers(bench)),
    ...(await measureHolders(bench)),
  };
  const compact = await openBench(hardfork, "compact");
  const stored = {
    ...(await measureErc721Mints(compact)),
    ...(await measureErc721Transfers(compact)),
    ...(await measureHolders(compact)),
    ...(await measureBlockedHolders(compact)),
  };
  for (const [name, { moneta }] of Object.entries(stored)) {
    if (moneta !== undefined) rows[name] = { ...rows[name], compact: moneta };
  }
  return rows;
}
