// Not a test of the project: `pool.test.ts` lets the runner run it.
