/** What was left out for one reason, with an example. */
interface LeftOut {
  file: string;
  why: string;
  count: number;
  example: string | null;
}

/** Counts what an import has done. There are few reasons to leave something out, so the list of them is short. */
export class Tally {
  readonly added = { wallets: 0, collections: 0, media: 0, tokens: 0 };
  readonly present = { wallets: 0, collections: 0, media: 0, tokens: 0 };
  readonly #reasons = new Map<string, LeftOut>();

  leave(file: string, why: string, example: string | null, count = 1): void {
    const known = this.#reasons.get(`${file} ${why}`);
    if (known !== undefined) known.count += count;
    else if (count > 0) this.#reasons.set(`${file} ${why}`, { file, why, count, example });
  }

  get leftOut(): LeftOut[] {
    return [...this.#reasons.values()];
  }
}
