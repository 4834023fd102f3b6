import type { Shape } from "../client.ts";
import type { FolderToken, Problem } from "./folder.ts";
import type { Plan } from "./plan.ts";
import { count } from "./receivers.ts";

/** Addresses that are checked before a drop, and how many with one call: each of them costs the app a simulation. */
const [MOST, AT_A_TIME] = [1_000, 100];

/** @returns one answer for each address, in their order; null when the service is older and cannot check */
type Check = (addresses: readonly string[]) => Promise<readonly Shape<"CheckedReceiver">[] | null>;

interface Arrivals {
  problems: Problem[];
  /** What was checked, as a sentence. */
  note: string | null;
  /** Why a receiver refuses, by its address. Each may concern several tokens. */
  refused: ReadonlyMap<string, string>;
}

/** What is read of a token. */
type Receiving = Pick<FolderToken, "source" | "owner">;

/**
 * Asks the service whether tokens can arrive at the addresses of a plan. A receiver that would refuse them is a problem.
 * @example
 * const { problems, note } = await checkArrivals(plan, async (addresses) => {
 *   const body = { contract_address: plan.collection.address, addresses: [...addresses] };
 *   return (await answerOf(client.POST("/v1/receivers/check", { body }))).receivers;
 * });
 */
export async function checkArrivals(
  { tokens, to }: { tokens: readonly Receiving[]; to: Plan["to"] },
  check: Check,
): Promise<Arrivals> {
  const receivers = new Map<string, Receiving[]>();
  for (const token of tokens) {
    const owner = token.owner ?? to;
    if (owner === null || "user" in owner) continue;
    const group = receivers.get(owner.address);
    if (group === undefined) receivers.set(owner.address, [token]);
    else group.push(token);
  }
  const problems: Problem[] = [];
  const refused = new Map<string, string>();
  const all = [...receivers.keys()];
  const asked = all.slice(0, MOST);
  let untold = 0;
  for (let at = 0; at < asked.length; at += AT_A_TIME) {
    const addresses = asked.slice(at, at + AT_A_TIME);
    const answers = await check(addresses);
    if (answers === null) {
      return {
        problems,
        refused,
        note: "This version of the service cannot check whether addresses accept the tokens.",
      };
    }
    for (const [index, { accepts, message }] of answers.entries()) {
      const address = addresses[index] ?? "";
      const [first, ...others] = receivers.get(address) ?? [];
      if (accepts === null) untold += 1;
      if (accepts !== false || first === undefined) continue;
      const more = others.length === 0 ? "" : ` This concerns ${count(others.length, "more token", "more tokens")}.`;
      const refusal = `${address} does not accept the token: ${message ?? ""}`;
      refused.set(address, refusal);
      problems.push({ source: first.source, message: refusal + more });
    }
  }
  if (all.length === 0) return { problems, refused, note: null };
  const checked = `${asked.length.toString()} of ${count(all.length, "address was", "addresses were")} checked`;
  const unknown = untold === 0 ? "" : `, and nothing is known about ${untold.toString()} of them`;
  return { problems, refused, note: `Whether tokens can arrive: ${checked}${unknown}.` };
}
