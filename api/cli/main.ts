import { ChainUnavailable } from "../chain/errors.ts";
import { environment } from "../config/environment.ts";
import { SettingsError } from "../config/settings.ts";
import { SeedFileError } from "../keys/seed-file.ts";
import { OperatorError } from "../operator/operator-error.ts";
import { explainFileError, FolderError } from "../shared/folder.ts";
import { DatabaseError } from "../store/db/database-error.ts";
import { createProgram } from "./program.ts";

const terminal = {
  env: environment(),
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
  await createProgram(terminal).parseAsync();
} catch (error) {
  // Errors that the operator can fix are printed as a sentence. Anything else is a bug and keeps its stack trace.
  console.error(sentenceOf(error) ?? error);
  process.exitCode = 1;
}

function sentenceOf(error: unknown): string | null {
  if (error instanceof ChainUnavailable) {
    return `The chain node at RPC_URL does not answer (${error.message}). Start it, or set RPC_URL to another node.`;
  }
  const expected = [OperatorError, SettingsError, DatabaseError, SeedFileError, FolderError];
  if (error instanceof Error && expected.some((kind) => error instanceof kind)) return error.message;
  return explainFileError(error);
}
