// Loaded before a program: timers of one second, by which workers look for work that nobody announced, last an hour. So only
// signals wake the workers.
const SECOND = 1_000;
const HOUR = 3_600_000;

const { setTimeout } = globalThis;
globalThis.setTimeout = Object.defineProperties(
  (work, milliseconds, ...values) => setTimeout(work, milliseconds === SECOND ? HOUR : milliseconds, ...values),
  Object.getOwnPropertyDescriptors(setTimeout),
);
