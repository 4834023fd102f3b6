/** Something is not as the tour says it is. */
export class TourError extends Error {
  override readonly name = "TourError";
}

/** @throws TourError unless what the tour claims holds. */
export function check(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new TourError(`The tour found something wrong: ${otherwise}`);
}
