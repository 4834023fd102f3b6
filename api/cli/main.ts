import { createInterface } from "node:readline";
import { inspect } from "node:util";

import { environment } from "../config/environment.ts";
import { cacheCode } from "../shared/code-cache.ts";
import { printable } from "../shared/text.ts";

const env = environment();
cacheCode(env);
const terminal = {
  env,
  input: process.stdin,
  write: (text: string) => {
    process.stdout.write(text);
  },
  remark: (text: string) => {
    process.stderr.write(text);
  },
  ...(process.stderr.isTTY && {
    rewrite: (line: string) => {
      process.stderr.write(`\r\x1b[K${line}`);
    },
    erase: (lines: number) => {
      process.stderr.write(`\x1b[${lines.toString()}A\x1b[J`);
    },
  }),
  ...(process.stdin.isTTY && process.stderr.isTTY && { ask }),
  fail: () => {
    process.exitCode = 1;
  },
};

try {
  const { createProgram } = await import("./program.ts");
  const program = await createProgram(terminal, process.argv.slice(2));
  await program.parseAsync();
} catch (error) {
  // Errors that the operator can fix are printed as a sentence. Anything else is a bug and keeps its stack trace.
  const { sentenceOf } = await import("./sentence.ts");
  console.error(printable(sentenceOf(error) ?? inspect(error)));
  process.exitCode = 1;
}

/** Resolves with the next line of the terminal. @throws OperatorError when the input ends. */
function ask(question: string): Promise<string> {
  process.stderr.write(question);
  // Without `terminal`, the terminal itself shows and edits the line, and Ctrl-C is a signal.
  const lines = createInterface({ input: process.stdin, terminal: false });
  return new Promise((resolve, reject) => {
    lines.once("close", () => {
      void import("../operate/operator-error.ts").then(({ OperatorError }) => {
        reject(new OperatorError("\nThe input has ended. Run the same command again: it continues."));
      });
    });
    lines.once("line", (line) => {
      resolve(line);
      lines.close();
    });
  });
}
