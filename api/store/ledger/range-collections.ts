import type { BlockRange } from "./apply-range.ts";

/** The contracts whose collections the range may change. */
export function collectionsOf({ batches, cancelled, moves, changes }: BlockRange): string[] {
  const requests = [...batches.flatMap(({ outcomes }) => outcomes), ...cancelled];
  return [
    ...requests.flatMap(({ request: { command } }) => ("collection" in command ? [command.collection] : [])),
    ...moves.flatMap(({ move, foreign }) => (foreign ? [] : [move.contract])),
    ...changes.map(({ contract }) => contract),
  ];
}
