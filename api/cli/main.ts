import { OperatorError } from "../commands/operator-error.ts";
import { environment } from "../config/environment.ts";
import { SettingsError } from "../config/settings.ts";
import { SchemaError } from "../store/migrate.ts";
import { createProgram } from "./program.ts";

const terminal = {
  env: environment(),
  write: (text: string) => {
    process.stdout.write(text);
  },
};

try {
  await createProgram(terminal).parseAsync();
} catch (error) {
  const expected = error instanceof OperatorError || error instanceof SettingsError || error instanceof SchemaError;
  // What is expected is said in a line; anything else is a fault, and its place is worth knowing.
  console.error(expected ? error.message : error);
  process.exitCode = 1;
}
