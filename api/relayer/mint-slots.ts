import { type Command, isMint } from "../domain/command.ts";
import { type MintSlots, UNKNOWN_SLOTS } from "../domain/gas-estimate.ts";
import type { Db } from "../store/db/engine.ts";
import { soulboundCollections } from "../store/sending/soulbound-collections.ts";
import { type Balance, usedBalances } from "../store/sending/used-balances.ts";

/**
 * Knows how the mints of one batch find their slots. A mint to a new owner costs nearly twice as much as a further one to the
 * same owner, so without this a batch would be far from using its gas limit. What it says decides no more than sizes and
 * gas limits: a reorg or a transfer may change a balance at any time.
 */
export class BatchSlots {
  readonly #used: ReadonlySet<string>;
  readonly #soulbound: ReadonlyMap<string, number>;
  readonly #written = new Set<string>();

  private constructor(used: ReadonlySet<string>, soulbound: ReadonlyMap<string, number>) {
    this.#used = used;
    this.#soulbound = soulbound;
  }

  /** Looks up the balances of all mints with one statement, and their collections with another. */
  static async of(read: Db, commands: readonly Command[]): Promise<BatchSlots> {
    const balances = new Map(
      commands.flatMap((command) => {
        const balance = balanceOf(command);
        return balance === null ? [] : [[keyOf(balance), balance] as const];
      }),
    );
    const keys = [...balances.keys()];
    const used = await usedBalances(read, [...balances.values()]);
    const erc721 = commands.flatMap((command) => (command.kind === "mint-erc721" ? [command.collection] : []));
    const soulbound = await soulboundCollections(read, [...new Set(erc721)]);
    return new BatchSlots(new Set(keys.filter((_, index) => used[index])), soulbound);
  }

  /** How the command finds its slots after those that were added. */
  find(command: Command): MintSlots {
    const balance = balanceOf(command);
    if (balance === null) return UNKNOWN_SLOTS;
    const key = keyOf(balance);
    return {
      balance: this.#written.has(key) ? "written" : this.#used.has(key) ? "used" : "new",
      supply: this.#written.has(supplyOf(balance)) ? "written" : "used",
      soulbound: command.kind === "mint-erc721" ? (this.#soulbound.get(command.collection) ?? null) : null,
    };
  }

  /** The batch has the command. One that it does not have writes nothing. */
  add(command: Command): void {
    const balance = balanceOf(command);
    if (balance !== null) this.#written.add(keyOf(balance)).add(supplyOf(balance));
  }
}

/** The balance that a mint increases; null for other commands. */
function balanceOf(command: Command): Balance | null {
  if (!isMint(command)) return null;
  const tokenId = command.kind === "mint-erc721" ? null : command.tokenId;
  return { contract: command.collection, owner: command.to, tokenId };
}

function supplyOf({ contract, tokenId }: Balance): string {
  return `${contract} ${tokenId ?? ""}`;
}

function keyOf({ contract, owner, tokenId }: Balance): string {
  return `${contract} ${owner} ${tokenId ?? ""}`;
}
