import { environment } from "../config/environment.ts";
import { cacheCode } from "../shared/code-cache.ts";

const env = environment();
cacheCode(env);
const terminal = {
  env,
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
  }),
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
  console.error(sentenceOf(error) ?? error);
  process.exitCode = 1;
}
