import { ChainUnavailable } from "../../../api/chain/errors.ts";
import type { ForeignContracts, Held, HoldingQuery } from "../../../api/chain/foreign.ts";
import type { KnownContract } from "../../../api/domain/followed-contract.ts";
import type { Burn, CollectionType } from "../../../api/domain/command.ts";
import { randomAddress } from "./rows.ts";

interface NewToken {
  type: CollectionType;
  tokenId: string;
  quantity: bigint;
  /** Of the contract. */
  name: string | null;
}

/** A fake of the chain reader for contracts that the service did not deploy. */
export class FakeForeign implements ForeignContracts {
  down = false;
  readonly contracts = new Map<string, { type: CollectionType; name: string | null }>();
  /** Copies by `contract/tokenId/owner`. */
  readonly copies = new Map<string, bigint>();
  /** Contracts whose reads exceed the limits. */
  readonly failing = new Set<string>();
  /** Runs before balances are answered. */
  beforeHoldings: (() => Promise<void>) | null = null;
  /** Contracts without a function for burns. */
  readonly unburnable = new Set<string>();
  /** Whether the chain has EIP-7702. */
  delegates = true;
  calls = 0;

  /** Adds a contract with one token. @returns its address. */
  addToken(
    owner: string,
    { type = "ERC721", tokenId = "1", quantity = 1n, name = null }: Partial<NewToken> = {},
  ): string {
    const contract = randomAddress();
    this.contracts.set(contract, { type, name });
    this.give(contract, tokenId, owner, quantity);
    return contract;
  }

  give(contract: string, tokenId: string, owner: string, quantity = 1n): void {
    this.copies.set(`${contract}/${tokenId}/${owner}`, quantity);
  }

  async inspect(addresses: readonly string[]): Promise<(KnownContract | null | ChainUnavailable)[]> {
    this.calls += addresses.length;
    await Promise.resolve();
    return addresses.map((address) =>
      this.down ? new ChainUnavailable("no answer") : (this.contracts.get(address) ?? null),
    );
  }

  async holdings(queries: readonly HoldingQuery[]): Promise<Held[]> {
    this.calls += queries.length;
    await this.beforeHoldings?.();
    return queries.map((query) => (this.down ? undefined : this.#held(query)));
  }

  async burnable(burns: readonly Burn[]): Promise<boolean[]> {
    this.calls += burns.length;
    await Promise.resolve();
    return burns.map(({ contract }) => !this.unburnable.has(contract));
  }

  canDelegate(): Promise<boolean> {
    if (this.down) return Promise.reject(new ChainUnavailable("down"));
    return Promise.resolve(this.delegates);
  }

  #held({ contract, type, tokenId, owner }: HoldingQuery): Held {
    if (this.failing.has(contract)) return "failed";
    const held = this.copies.get(`${contract}/${tokenId}/${owner}`);
    if (held !== undefined) return held;
    const exists = [...this.copies.keys()].some((key) => key.startsWith(`${contract}/${tokenId}/`));
    return type === "ERC721" && !exists ? null : 0n;
  }
}
