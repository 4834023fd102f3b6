import type { Adoptables, Permission } from "../../../api/chain/adoptable.ts";
import type { AdoptableContract } from "../../../api/domain/followed-contract.ts";

/** Contracts that an app can adopt, without a chain. Every signature is right but `0x00`. */
export class FakeAdoptables implements Adoptables {
  readonly contracts = new Map<string, AdoptableContract>();
  readonly own = new Set<string>();

  isOwn(address: string): boolean {
    return this.own.has(address);
  }

  describe(address: string): Promise<AdoptableContract | null> {
    return Promise.resolve(this.contracts.get(address) ?? null);
  }

  text(permission: Permission) {
    return { types: {}, domain: {}, primaryType: "AdoptCollection", message: { ...permission } };
  }

  isPermitted(_asked: unknown, { signature }: { signature: string }): Promise<boolean> {
    return Promise.resolve(signature !== "0x00");
  }

  firstBlock(): Promise<number> {
    return Promise.resolve(0);
  }
}
