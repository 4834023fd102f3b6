import { Program, ROOT } from "../../scripts/scene/program.ts";

export { ROOT };

/** Settings of the service: tests make far more calls than an app, and a slow machine must not give up a simulation. */
export const FOR_TESTS = {
  RATE_LIMIT_PER_MINUTE: "1000000",
  PUBLIC_RATE_LIMIT_PER_MINUTE: "1000000",
  BATCH_ITEMS_PER_MINUTE: "1000000",
  SIMULATION_SECONDS: "20",
};

/** A program of the project in a separate process, with its output so far, and without the environment of the tests. */
export class TestProcess extends Program {
  /** @param args for Node, TypeScript entry included, unless another program is named. */
  constructor(args: string[], env: Record<string, string>, command?: string) {
    const { PATH, HOME } = process.env;
    super(args, { env: { PATH, HOME, ...FOR_TESTS, ...env }, ...(command === undefined ? {} : { command }) });
  }
}
