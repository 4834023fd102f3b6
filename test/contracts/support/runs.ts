/**
 * How much the tests with random or many inputs do. `npm test` and `npx hardhat test` take the short form, which finds what is
 * wrong in general. `npm run test:contracts:long` sets TEST_RUNS=long: more random inputs, smaller steps, and the hard
 * forks whose gas the snapshot has beside that of Prague. The Solidity tests have `npm run test:invariants`.
 */
export const IS_LONG = process.env["TEST_RUNS"] === "long";

/** @returns the number for the form that runs. */
export function shortOrLong<T>(short: T, long: T): T {
  return IS_LONG ? long : short;
}
