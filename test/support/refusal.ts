/** The error that the work fails with. @throws when it succeeds. */
export async function refusalOf(work: Promise<unknown>): Promise<Error> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error("the work succeeded, but it should have failed");
  return error;
}
