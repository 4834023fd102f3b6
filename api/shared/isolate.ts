import type { Logger } from "pino";

import type { Condition, ParkedKind } from "../domain/conditions.ts";

/**
 * Does work on a set of rows. If it throws, the set is halved until the rows that make it throw are alone: of n rows, b bad
 * ones cost about `2 b log2(n)` further tries. The work of the others is done.
 * @param work must change nothing when it throws.
 * @param isOutage whether an error says nothing about the rows. Such an error ends the work.
 * @returns the rows for which the work throws, with the errors.
 * @throws an outage. The work of some rows may be done then.
 */
export async function isolate<Row>(
  rows: readonly Row[],
  work: (rows: readonly Row[]) => Promise<void>,
  isOutage: (error: unknown) => boolean,
): Promise<{ row: Row; error: unknown }[]> {
  if (rows.length === 0) return [];
  try {
    await work(rows);
    return [];
  } catch (error) {
    if (isOutage(error)) throw error;
    const [row] = rows;
    if (rows.length === 1 && row !== undefined) return [{ row, error }];
  }
  const half = Math.ceil(rows.length / 2);
  const first = await isolate(rows.slice(0, half), work, isOutage);
  return [...first, ...(await isolate(rows.slice(half), work, isOutage))];
}

/** Says in the log which rows were parked, why, and when they are tried again. */
export function logParked(
  logger: Logger,
  kind: ParkedKind,
  parked: readonly { id: string; error: unknown; tries: number; nextAt: number }[],
): void {
  for (const { id, error, tries, nextAt } of parked) {
    logger.error(
      {
        condition: "row_parked" satisfies Condition,
        kind,
        id,
        tries,
        nextAt: new Date(nextAt).toISOString(),
        err: error,
      },
      "the work on this row fails: it is parked and tried again later, and the others go on; `doctor` says what to do",
    );
  }
}
