import { type Hardfork, openBench } from "./bench.ts";
import { measureCreation, measureErc1155Mints, measureErc721Mints, measureRelayed } from "./mints.ts";
import type { Measured } from "./rows.ts";
import { measureBlockedHolders, measureErc721Transfers, measureHolders, measureTransfers } from "./transfers.ts";

/** Measures every row of the gas tables once, under the rules of one hard fork. */
export async function measure(hardfork: Hardfork): Promise<Measured> {
  const bench = await openBench(hardfork, "standard");
  const rows: Measured = {
    ...(await measureCreation(bench)),
    ...(await measureErc721Mints(bench)),
    ...(await measureErc1155Mints(bench)),
    ...(await measureTransfers(bench)),
    ...(await measureHolders(bench)),
    ...(await measureRelayed(bench, ["moneta", "openZeppelin", "solady", "erc721a"])),
  };
  const compact = await openBench(hardfork, "compact");
  const stored = {
    ...(await measureErc721Mints(compact)),
    ...(await measureErc721Transfers(compact)),
    ...(await measureHolders(compact)),
    ...(await measureBlockedHolders(compact)),
    ...(await measureRelayed(compact, ["moneta"])),
  };
  for (const [name, { moneta }] of Object.entries(stored)) {
    if (moneta !== undefined) rows[name] = { ...rows[name], compact: moneta };
  }
  return rows;
}
