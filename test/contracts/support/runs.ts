/**
 * How much the tests with random or many inputs do. `npm test` and `npx hardhat test` take the short form, which finds what is
 * wrong in general. `npm run test:contracts -- --long` sets TEST_RUNS=long: more random inputs, smaller steps, and the hard
 * forks whose gas the snapshot has beside that of Prague. The Solidity tests have `npm run test:contracts -- --invariants`.
 */
export const IS_LONG = process.env["TEST_RUNS"] === "long";

/** @returns the number for the form that runs. */
export function shortOrLong<T>(short: T, long: T): T {
  return IS_LONG ? long : short;
}

/** The seconds after which a long form ends with what it has done by then, as CI wants it. Without TEST_SECONDS it does all. */
const SECONDS = Number(process.env["TEST_SECONDS"] ?? Infinity);

/**
 * Counts from 0 to the number of steps of the form that runs. A long form with a time budget ends early, but not before it has
 * done what the short form does, and says how much that was.
 */
export function* steps(short: number, long: number): Generator<number> {
  const all = shortOrLong(short, long);
  const end = performance.now() + SECONDS * 1_000;
  for (let step = 0; step < all; step++) {
    if (step >= short && performance.now() > end) {
      console.log(`${step.toString()} of ${all.toString()} steps in ${SECONDS.toString()} s:`);
      return;
    }
    yield step;
  }
}
