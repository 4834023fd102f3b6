/** The same bytes. @throws what `tooMany` returns, after more than `most` of them. */
export async function* bounded(
  source: AsyncIterable<Uint8Array>,
  most: number,
  tooMany: () => Error,
): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of source) {
    total += chunk.length;
    if (total > most) throw tooMany();
    yield chunk;
  }
}
