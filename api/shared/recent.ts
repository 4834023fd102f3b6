/** Keeps the results of a pure function for the arguments that were used last. Errors are not kept. */
export function remember<Argument extends string | number, Result>(
  most: number,
  compute: (argument: Argument) => Result,
): (argument: Argument) => Result {
  const results = new Map<Argument, Result>();
  return (argument) => {
    const known = results.get(argument);
    const result = known ?? compute(argument);
    // A map keeps the order of insertion: the newest use goes to the end.
    if (known !== undefined) results.delete(argument);
    results.set(argument, result);
    if (results.size > most) {
      const [oldest] = results.keys();
      if (oldest !== undefined) results.delete(oldest);
    }
    return result;
  };
}
