import type { findWallets } from "../apps/wallets.ts";

/**
 * What says who gives and who gets tokens: a request, or an event. An event that an earlier version stored does not. The names of
 * users are joined when it is read, and stored nowhere else: a user can be renamed or removed.
 */
interface Parties {
  from_address?: string | null;
  to_address?: string | null;
  from_user?: string | null;
  to_user?: string | null;
}

/** The wallets of a group of calls: `findWallets`, with its database. */
type FindWallets = (calls: Parameters<typeof findWallets>[1]) => ReturnType<typeof findWallets>;

/**
 * Sets `from_user` and `to_user`: the present names of the users who have the wallets of the app at these addresses, with one
 * look-up for all. null: the address is not a wallet of the app, or the wallet has no user.
 * @param entries each with the app whose names count. Those that do not say who gives and who gets stay as they are.
 * @returns the bodies, in their order.
 */
export async function withUsers<B extends Parties>(
  find: FindWallets,
  entries: readonly { appId: string; body: B }[],
): Promise<B[]> {
  const calls = entries.flatMap(({ appId, body: { from_address: from, to_address: to } }) =>
    [from, to].flatMap((address) => (address == null ? [] : { appId, address })),
  );
  const wallets = calls.length === 0 ? [] : await find(calls);
  const names = new Map(wallets.map((wallet) => [`${wallet?.app_id} ${wallet?.address}`, wallet?.user_identifier]));
  return entries.map(({ appId, body }) => {
    if (!("from_address" in body) && !("to_address" in body)) return body;
    const nameOf = (address: string | null | undefined) => names.get(`${appId} ${String(address)}`) ?? null;
    return { ...body, from_user: nameOf(body.from_address), to_user: nameOf(body.to_address) };
  });
}

/** The same for bodies that are stored as JSON. A damaged one stays as it is: whoever reads it finds the fault. */
export async function textsWithUsers(
  find: FindWallets,
  entries: readonly { appId: string; text: string }[],
): Promise<string[]> {
  const parsed = entries.map(({ appId, text }) => ({ appId, body: parse(text) }));
  const bodies = await withUsers(find, parsed);
  return bodies.map((body, at) => ("from_user" in body ? JSON.stringify(body) : (entries[at]?.text ?? "")));
}

function parse(text: string): Parties {
  try {
    return Object(JSON.parse(text)) as Parties;
  } catch {
    return {};
  }
}
