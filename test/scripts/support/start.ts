import { TestProcess } from "../../support/process.ts";

/**
 * `npm start` after its set-up, in a separate process. Its metrics are on any free port: tests run side by side, and may all see
 * that the usual one is free. @param args after `npm start --`.
 */
export function start(
  env: { PORT: number; RPC_PORT: number; DATA_DIR: string; TOUR?: "0"; NODE_OPTIONS?: string },
  args: string[] = [],
): TestProcess {
  const variables = Object.fromEntries(
    Object.entries({ METRICS_PORT: 0, ...env }).map(([name, value]) => [name, String(value)]),
  );
  return new TestProcess(["scripts/start/main.ts", ...args], variables);
}

/** @returns the token that it printed. */
export async function serving(program: Pick<TestProcess, "printed">): Promise<string> {
  await program.printed(/^serving/m);
  const [, token] = await program.printed(/^token: (\S+)$/m);
  return token!;
}
