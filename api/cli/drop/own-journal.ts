import { OperatorError } from "../../operator/operator-error.ts";
import { JOURNAL } from "./journal.ts";
import type { Plan } from "./plan.ts";
import type { DropState } from "./state.ts";
import { TEXT_FIELDS } from "./token.ts";

const FIELDS: readonly string[] = [
  ...["collection_address", "to_address", "token_id", "initial_supply", "initial_owner", "attributes"],
  ...TEXT_FIELDS,
];

/**
 * A folder from others may come with a journal. Its batches are sent as they are, so they must be those of this drop.
 * @param to who gets the tokens now. @throws OperatorError
 */
export function refuseForeignJournal(
  folder: string,
  { plan, state, to }: { plan: Plan; state: DropState; to: string },
) {
  const batches = state.unanswered();
  const own =
    state.start?.to === to &&
    batches.every(
      ({ tokens, body: { items } }) =>
        tokens.length === items.length &&
        tokens.every((token) => plan.tokens[token] !== undefined) &&
        items.every((item) => isOwn(item, plan, to)),
    );
  if (own) return;
  throw new OperatorError(
    `The file ${JOURNAL} in ${folder} is of a drop to another receiver (${state.start?.to ?? "none"}, now ${to}) or collection. If the folder comes from someone else, delete that file. If it is yours, look what was minted before you go on.`,
  );
}

function isOwn(item: Record<string, unknown>, { collection }: Plan, to: string): boolean {
  const receiver = collection.type === "ERC721" ? "to_address" : "initial_owner";
  const other = collection.type === "ERC721" ? "initial_owner" : "to_address";
  return (
    item["collection_address"] === collection.address &&
    item[receiver] === to &&
    !(other in item) &&
    Object.keys(item).every((field) => FIELDS.includes(field))
  );
}
