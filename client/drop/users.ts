import { foldedUser, type KnownUsers, refusalOf } from "./receivers.ts";

/** Users that are looked up before a drop, and how many of them at a time. */
const [MOST, AT_ONCE] = [200, 4];

/** Calls of the API that find users. */
interface Directory {
  /** @returns the address; null when the app has no wallet for this user */
  walletOf: (user: string) => Promise<string | null>;
  /** User identifiers that contain the text, some of them. */
  search: (text: string) => Promise<readonly (string | null)[]>;
}

/**
 * Looks up users of the app, and for those without a wallet the users whose names differ only in form.
 * @example
 * const walletOf = async (user: string) => (await client.getOrCreateWallet(user)).address;
 * const known = await lookUpUsers(usersOf(contents.tokens, null), { walletOf, search: async () => [] }, true);
 * @param all whether each user must be looked up; else those beyond a bound are not, unless their names need it
 */
export async function lookUpUsers(users: readonly string[], directory: Directory, all: boolean): Promise<KnownUsers> {
  const [wallets, similar] = [new Map<string, string>(), new Map<string, string>()];
  const wanted = users.filter((user, index) => all || index < MOST || refusalOf(user) !== null);
  const unknown = new Set(users.filter((user) => !wanted.includes(user)));
  const left = [...wanted];
  const work = async () => {
    for (let user = left.pop(); user !== undefined; user = left.pop()) {
      const address = await directory.walletOf(user);
      const other = address === null && wanted.indexOf(user) < MOST ? await similarTo(user, directory) : null;
      if (address !== null) wallets.set(user, address);
      if (other !== null) similar.set(user, other);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { wallets, similar, unknown };
}

/** Characters that a search takes. */
const MOST_SEARCHED = 64;

/** A search takes letters beyond ASCII as they are written, so it is asked for in several forms. */
async function similarTo(user: string, { search }: Directory): Promise<string | null> {
  const trimmed = user.trim();
  const folded = foldedUser(user);
  const forms = [trimmed.normalize("NFC"), trimmed.normalize("NFD"), folded, folded.toUpperCase()];
  for (const text of new Set(forms.map((form) => Array.from(form).slice(0, MOST_SEARCHED).join("")))) {
    const found = text === "" ? [] : await search(text);
    const other = found.find((one) => one !== null && foldedUser(one) === folded);
    if (other != null) return other;
  }
  return null;
}
