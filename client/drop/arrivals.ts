import type { Shape } from "../client.ts";
import type { FolderToken, Problem } from "./folder.ts";
import type { Plan } from "./plan.ts";
import { count } from "./receivers.ts";

/** Addresses that are checked before a drop, and how many with one call: each of them costs the app a simulation. */
const [MOST, AT_A_TIME] = [1_000, 100];

/** @returns one answer for each address, in their order; null when the service is older and cannot check */
type Check = (addresses: readonly string[]) => Promise<readonly Shape<"CheckedReceiver">[] | null>;

/**
 * Asks the service whether tokens can arrive at the addresses of a plan. A receiver that would refuse them is a problem.
 * @example
 * const { problems, note } = await checkArrivals(plan, async (addresses) => {
 *   const body = { contract_address: plan.collection.address, addresses: [...addresses] };
 *   return (await answerOf(client.POST("/v1/receivers/check", { body }))).receivers;
 * });
 */
export async function checkArrivals(
  { tokens, to }: Pick<Plan, "tokens" | "to">,
  check: Check,
): Promise<{ problems: Problem[]; note: string | null }> {
  const receivers = new Map<string, FolderToken[]>();
  for (const token of tokens) {
    const owner = token.owner ?? to;
    if (owner === null || "user" in owner) continue;
    const group = receivers.get(owner.address);
    if (group === undefined) receivers.set(owner.address, [token]);
    else group.push(token);
  }
  const problems: Problem[] = [];
  const all = [...receivers.keys()];
  const asked = all.slice(0, MOST);
  let untold = 0;
  for (let at = 0; at < asked.length; at += AT_A_TIME) {
    const addresses = asked.slice(at, at + AT_A_TIME);
    const answers = await check(addresses);
    if (answers === null) {
      return { problems, note: "This version of the service cannot check whether addresses accept the tokens." };
    }
    for (const [index, { accepts, message }] of answers.entries()) {
      const address = addresses[index] ?? "";
      const [first, ...others] = receivers.get(address) ?? [];
      if (accepts === null) untold += 1;
      if (accepts !== false || first === undefined) continue;
      const more = others.length === 0 ? "" : ` This concerns ${count(others.length, "more token", "more tokens")}.`;
      problems.push({ source: first.source, message: `${address} does not accept the token: ${message ?? ""}${more}` });
    }
  }
  if (all.length === 0) return { problems, note: null };
  const checked = `${asked.length.toString()} of ${count(all.length, "address was", "addresses were")} checked`;
  const unknown = untold === 0 ? "" : `, and nothing is known about ${untold.toString()} of them`;
  return { problems, note: `Whether tokens can arrive: ${checked}${unknown}.` };
}
