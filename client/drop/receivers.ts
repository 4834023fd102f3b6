import { refusalOfNewUser } from "../rules/receiver-name.ts";
import type { FolderToken, Owner, Problem } from "./folder.ts";

/** The users that the app has, among those that were asked for: wallets by user identifier. */
export interface KnownUsers {
  wallets: ReadonlyMap<string, string>;
  /** Users of the app whose identifier differs only in form from a name that has no wallet, by that name. */
  similar: ReadonlyMap<string, string>;
  /** Names that were not looked up, because there are too many. */
  unknown: ReadonlySet<string>;
}

/** Who gets the tokens, and what is wrong with it. */
export interface Receivers {
  problems: Problem[];
  warnings: string[];
  /** "2 addresses and 3 users, 1 of them new: alice". */
  summary: string;
}

/**
 * The users whom tokens name, each once.
 * @example
 * const users = usersOf(contents.tokens, null);
 */
export function usersOf(tokens: readonly Pick<FolderToken, "owner">[], everybody: Owner | null): string[] {
  const owners = tokens.map(({ owner }) => owner ?? everybody);
  return [...new Set(owners.flatMap((owner) => (owner !== null && "user" in owner ? [owner.user] : [])))];
}

/**
 * Counts who gets the tokens, and refuses names that look like addresses and that no user of the app has.
 * @param everybody who gets the tokens without an owner @param place what names them, as the place of a problem
 * @example
 * const known = { wallets: new Map(), similar: new Map(), unknown: new Set<string>() };
 * const { problems, warnings, summary } = checkReceivers(contents.tokens, { user: "alice" }, known);
 */
export function checkReceivers(
  tokens: readonly Pick<FolderToken, "owner" | "source">[],
  everybody: Owner | null,
  { wallets, similar, unknown }: KnownUsers,
  place = "--user",
): Receivers {
  const problems: Problem[] = [];
  const addresses = new Set<string>();
  const users = usersOf(tokens, everybody);
  const isNew = (user: string) => !wallets.has(user) && !unknown.has(user);
  for (const { source, owner } of tokens) {
    if (owner !== null && "address" in owner) addresses.add(owner.address.toLowerCase());
    else if (owner !== null) {
      const refusal = wallets.has(owner.user) ? null : refusalOf(owner.user);
      if (refusal !== null) problems.push({ source, message: `owner: ${refusal}` });
    } else if (everybody !== null && "address" in everybody) addresses.add(everybody.address.toLowerCase());
  }
  if (everybody !== null && "user" in everybody && users.includes(everybody.user) && !wallets.has(everybody.user)) {
    const refusal = refusalOf(everybody.user);
    if (refusal !== null) problems.push({ source: place, message: refusal });
  }
  const warnings = users.flatMap((user) => [
    ...(user.trim() === user ? [] : [`The user identifier "${user}" has white space around it.`]),
    ...(similar.has(user) && isNew(user)
      ? [`The user "${user}" is new, but the app has "${similar.get(user) ?? ""}", which differs only in form.`]
      : []),
  ]);
  const fresh = users.filter(isNew);
  const named = fresh.length === 0 ? "" : `: ${list(fresh)}`;
  const asked = unknown.size === 0 ? "" : `, ${unknown.size.toString()} of them not looked up`;
  const summary = `to ${count(addresses.size, "address", "addresses")}, ${count(users.length, "user", "users")}, ${fresh.length.toString()} of them new${named}${asked}`;
  return { problems, warnings, summary };
}

/** Why no wallet is made for this name. */
export function refusalOf(user: string): string | null {
  const refusal = refusalOfNewUser(user, "in its place");
  if (refusal !== null) return refusal;
  return /^0x/i.test(user) ? "Must be an address (0x and 40 hex digits) or a user identifier." : null;
}

/** `1 token`, `2 tokens`. */
export function count(number: number, one: string, many: string): string {
  return `${number.toString()} ${number === 1 ? one : many}`;
}

/** Names that are shown. */
const SHOWN = 5;

function list(names: readonly string[]): string {
  const more = names.length - SHOWN;
  return `${names.slice(0, SHOWN).join(", ")}${more > 0 ? ` and ${more.toString()} more` : ""}`;
}

/** Names that mean the same to a person: in Unicode's composed form, without case and white space around. */
export function foldedUser(user: string): string {
  return user.normalize("NFKC").trim().toLowerCase();
}
