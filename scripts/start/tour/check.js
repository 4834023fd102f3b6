/** Thrown when the service did something else than the tour expects. */
export class TourError extends Error {
    name = "TourError";
}
/** @throws TourError with the text, unless the condition holds. */
export function check(holds, otherwise) {
    if (!holds)
        throw new TourError(`The tour failed: ${otherwise}.`);
}
