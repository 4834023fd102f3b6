import { type Command, isMint } from "../domain/command.ts";
import type { Db } from "../store/db/engine.ts";
import { type Balance, usedBalances } from "../store/sending/used-balances.ts";

/** How a call finds a storage slot that it writes. Only the first write to a slot is expensive. */
export type SlotState =
  /** Nothing was ever written to it. */
  | "new"
  /** It was written before this transaction. */
  | "used"
  /** An earlier call of the same transaction wrote it, or read the same account. */
  | "written";

/** How a mint finds the slots that it shares with other mints. */
export interface MintSlots {
  /** The recipient's balance. */
  balance: SlotState;
  /** The supply of an ERC1155 id that exists. */
  supply: SlotState;
}

const UNKNOWN: MintSlots = { balance: "new", supply: "used" };

/**
 * Knows how the mints of one batch find their slots. A mint to a new owner costs nearly twice as much as a further one to the
 * same owner, so without this a batch would be far from using its gas limit. What it says decides no more than sizes and
 * gas limits: a reorg or a transfer may change a balance at any time.
 */
export class BatchSlots {
  readonly #used: ReadonlySet<string>;
  readonly #written = new Set<string>();

  private constructor(used: ReadonlySet<string>) {
    this.#used = used;
  }

  /** Looks up the balances of all mints with one statement. */
  static async of(read: Db, commands: readonly Command[]): Promise<BatchSlots> {
    const balances = new Map(
      commands.flatMap((command) => {
        const balance = balanceOf(command);
        return balance === null ? [] : [[keyOf(balance), balance] as const];
      }),
    );
    const keys = [...balances.keys()];
    const used = await usedBalances(read, [...balances.values()]);
    return new BatchSlots(new Set(keys.filter((_, index) => used[index])));
  }

  /** Call it for the batch's commands in their order: it records what each one writes. */
  next(command: Command): MintSlots {
    const balance = balanceOf(command);
    if (balance === null) return UNKNOWN;
    const supply = `${balance.contract} ${balance.tokenId ?? ""}`;
    const key = keyOf(balance);
    const found: MintSlots = {
      balance: this.#written.has(key) ? "written" : this.#used.has(key) ? "used" : "new",
      supply: this.#written.has(supply) ? "written" : "used",
    };
    this.#written.add(key).add(supply);
    return found;
  }
}

/** The balance that a mint increases; null for other commands. */
function balanceOf(command: Command): Balance | null {
  if (!isMint(command)) return null;
  const tokenId = command.kind === "mint-erc721" ? null : command.tokenId;
  return { contract: command.collection, owner: command.to, tokenId };
}

function keyOf({ contract, owner, tokenId }: Balance): string {
  return `${contract} ${owner} ${tokenId ?? ""}`;
}
