import type { Db } from "./engine.ts";

/** Derivation paths (`a/b/c`) of those of the addresses that are wallets of the service. */
export async function walletPaths(db: Db, addresses: string[]): Promise<Map<string, string>> {
  const paths = new Map<string, string>();
  // Engines bound the number of parameters of one statement.
  for (let start = 0; start < addresses.length; start += 500) {
    const rows = await db
      .selectFrom("wallets")
      .select(["address", "path"])
      .where("address", "in", addresses.slice(start, start + 500))
      .execute();
    for (const row of rows) paths.set(row.address, row.path);
  }
  return paths;
}
