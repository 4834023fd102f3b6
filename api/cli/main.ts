import { OperatorError } from "../operator/operator-error.ts";
import { environment } from "../config/environment.ts";
import { SettingsError } from "../config/settings.ts";
import { SeedFileError } from "../keys/seed-file.ts";
import { DatabaseError } from "../store/db/database-error.ts";
import { createProgram } from "./program.ts";

const terminal = {
  env: environment(),
  write: (text: string) => {
    process.stdout.write(text);
  },
  fail: () => {
    process.exitCode = 1;
  },
};

try {
  await createProgram(terminal).parseAsync();
} catch (error) {
  const kinds = [OperatorError, SettingsError, DatabaseError, SeedFileError];
  const expected = error instanceof Error && kinds.some((kind) => error instanceof kind);
  // What is expected is said in a line; anything else is a fault, and its place is worth knowing.
  console.error(expected ? error.message : error);
  process.exitCode = 1;
}
