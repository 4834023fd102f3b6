/** @returns what the work is rejected with. @throws when it succeeds. */
export async function rejectionOf(work: Promise<unknown>): Promise<Error> {
  const outcome = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (outcome instanceof Error) return outcome;
  throw new Error("It was not rejected with an error.");
}
