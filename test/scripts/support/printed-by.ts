/** What a part of a program printed in this process, and the exit code that it asked for. */
interface Printed<T> {
  result: T;
  output: string;
  exitCode: number;
}

/** Calls a function whose output is the program's: it goes into the answer instead of the test report. */
export async function printedBy<T>(run: () => Promise<T>): Promise<Printed<T>> {
  const { log, error, warn } = console;
  const lines: string[] = [];
  const keep = (...values: unknown[]) => void lines.push(`${values.map(String).join(" ")}\n`);
  const before = process.exitCode;
  process.exitCode = 0;
  Object.assign(console, { log: keep, error: keep, warn: keep });
  try {
    const result = await run();
    return { result, output: lines.join(""), exitCode: process.exitCode };
  } finally {
    Object.assign(console, { log, error, warn });
    process.exitCode = before;
  }
}
