import type { JsonRpcProvider } from "ethers";

import { forEachAtOnce } from "../../../api/shared/at-once.ts";
import type { RetryingClient } from "../client.ts";
import { ownersOf } from "./compare-move.ts";
import { require } from "./production.ts";
import type { Contract } from "./wizards.ts";

/** What `wallets sweep --json` prints. */
export interface Sweep {
  left: number;
  reasons: object[];
}

/** Calls at the same time. */
const AT_ONCE = 16;

/** The chain before a sweep: who holds the tokens of the contracts. */
export class BeforeSweep {
  readonly #provider: JsonRpcProvider;
  /** By contract and token. */
  readonly #owners: ReadonlyMap<string, string>;
  readonly #block: number;

  private constructor(provider: JsonRpcProvider, owners: ReadonlyMap<string, string>, block: number) {
    this.#provider = provider;
    this.#owners = owners;
    this.#block = block;
  }

  static async read(provider: JsonRpcProvider, contracts: readonly Contract[]): Promise<BeforeSweep> {
    return new BeforeSweep(provider, await ownersIn(provider, contracts), await provider.getBlockNumber());
  }

  /** How many tokens the wallets had. */
  countOf(wallets: readonly string[]): number {
    const some = new Set(wallets);
    return [...this.#owners.values()].filter((owner) => some.has(owner)).length;
  }

  /** @throws unless the tokens of the old wallets are in the new ones, on the chain and in the lists, and all others are where they were. */
  async compare(
    client: Pick<RetryingClient, "ok">,
    contracts: readonly Contract[],
    moved: ReadonlyMap<string, string>,
  ): Promise<void> {
    const owners = await ownersIn(this.#provider, contracts);
    require(owners.size === this.#owners.size, `${owners.size.toString()} tokens after the sweep`);
    const counts = new Map<string, number>();
    for (const [token, owner] of this.#owners) {
      const now = owners.get(token) ?? "";
      require(now === (moved.get(owner) ?? owner), `${token} of ${owner} is at ${now}`);
      counts.set(now, (counts.get(now) ?? 0) + 1);
    }
    await forEachAtOnce([...moved].flat(), AT_ONCE, async (wallet) => {
      const { total } = (await client.ok("GET", `/v1/accounts/${wallet}`)) as { total: number };
      const expected = counts.get(wallet) ?? 0;
      require(total === expected, `the list of ${wallet} has ${total.toString()} of ${expected.toString()} tokens`);
    });
  }

  /** What the blocks since then have used, in words. */
  async used(tokens: number): Promise<string> {
    let [transactions, gas] = [0, 0n];
    const head = await this.#provider.getBlockNumber();
    for (let number = this.#block + 1; number <= head; number++) {
      const block = await this.#provider.getBlock(number);
      transactions += block?.length ?? 0;
      gas += block?.gasUsed ?? 0n;
    }
    return `${transactions.toString()} transactions, ${(gas / BigInt(tokens)).toString()} gas for each token`;
  }
}

async function ownersIn(provider: JsonRpcProvider, contracts: readonly Contract[]): Promise<Map<string, string>> {
  const owners = new Map<string, string>();
  for (const contract of contracts)
    for (const [id, owner] of await ownersOf(provider, contract)) owners.set(`${contract.address} ${id}`, owner);
  return owners;
}
