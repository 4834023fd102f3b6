import { ChainUnavailable } from "../../../api/chain/errors.ts";
import type { ForeignContracts } from "../../../api/chain/foreign-contracts.ts";
import type { CollectionType } from "../../../api/domain/command.ts";

/** A fake of the chain reader for contracts that the service did not deploy. */
export class FakeForeign implements ForeignContracts {
  down = false;
  readonly contracts = new Map<string, { type: CollectionType; name: string | null }>();
  /** Copies by `contract/tokenId/owner`. */
  readonly holdings = new Map<string, bigint>();
  /** Contracts whose reads exceed the limits. */
  readonly failing = new Set<string>();
  calls = 0;

  give(contract: string, tokenId: string, owner: string, quantity = 1n): void {
    this.holdings.set(`${contract}/${tokenId}/${owner}`, quantity);
  }

  inspect(address: string): Promise<{ type: CollectionType; name: string | null } | null> {
    return this.#answer(() => this.contracts.get(address) ?? null);
  }

  holding(contract: string, type: CollectionType, tokenId: string, owner: string): Promise<bigint | null | "failed"> {
    return this.#answer(() => {
      if (this.failing.has(contract)) return "failed";
      const held = this.holdings.get(`${contract}/${tokenId}/${owner}`);
      if (held !== undefined) return held;
      const exists = [...this.holdings.keys()].some((key) => key.startsWith(`${contract}/${tokenId}/`));
      return type === "ERC721" && !exists ? null : 0n;
    });
  }

  async #answer<T>(value: () => T): Promise<T> {
    this.calls += 1;
    await Promise.resolve();
    if (this.down) throw new ChainUnavailable("no answer");
    return value();
  }
}
