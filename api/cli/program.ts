import { Command } from "commander";

import { NOUNS, type Noun } from "./nouns.ts";
import { PROGRAM, type Terminal } from "./terminal.ts";

const AFTER = `
Commands work while the service runs. They use the database of DATABASE_URL or DATA_DIR.
\`npm start\` keeps its database in data/local: put DATA_DIR=data/local before the command.

Examples:
  ${PROGRAM} app create my-shop        create an app and print its token
  ${PROGRAM} console                   print a link that opens the console
  ${PROGRAM} request list --json       print the newest requests as JSON
  ${PROGRAM} doctor                    find out what is wrong
  ${PROGRAM} token create --help       options and examples of one command`;

/**
 * The command line. Each command has its own file; folders are groups of commands.
 * @param words of the command line that will be parsed. Only the commands that they name are loaded, because most commands
 * load the whole service. The others are in the list of commands, and cannot run.
 */
export async function createProgram(terminal: Terminal, words: readonly string[]): Promise<Command> {
  const program = new Command(PROGRAM)
    .usage("<command> [options]")
    .description("Administers Moneta: apps, tokens, keys, requests and webhooks.")
    .addHelpText("after", AFTER)
    .showHelpAfterError("Add --help to see the usage.");
  for (const noun of NOUNS) program.addCommand(words.includes(noun.name) ? await noun.load(terminal) : listed(noun));
  return program;
}

/** A command for the list of all commands, which looks there as if it was loaded. */
function listed({ name, description, parameters }: Noun): Command {
  const command = new Command(name).description(description);
  // The list shows no options, only that there are some.
  if (parameters !== null) command.option("--json");
  if (parameters !== null && parameters !== "") command.arguments(parameters);
  return command;
}
