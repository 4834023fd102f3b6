import { randomBytes, randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { type Environment, parseSettings } from "../../config/settings.ts";
import { newSeedPhrase, readSeedFile, weaknessOf, writeSeedFile } from "../../keys/seed-file.ts";
import { OperatorError } from "../../operate/operator-error.ts";
import { writeNewFile } from "../../shared/write-new-file.ts";
import type { Terminal } from "../terminal.ts";

/** Words of the phrase in one line. */
const COLUMNS = 4;
/** How many words are asked for. */
const ASKED = 2;

/** The settings with a passphrase. If none is named, one is made, in a file of its own. */
export async function withPassphrase(env: Environment, terminal: Terminal): Promise<Environment> {
  if (filled(env["SEED_PASSPHRASE"])) {
    terminal.write("passphrase  of SEED_PASSPHRASE. It is not written to a file: set it at each start.\n");
    return env;
  }
  if (filled(env["SEED_PASSPHRASE_FILE"])) return env;
  const { dataDir, seedFile } = parseSettings(env);
  const file = join(dataDir, "seed-passphrase");
  if (existsSync(seedFile) && !existsSync(file))
    throw new OperatorError(
      `${seedFile} exists, but not its passphrase. Add this line to your shell: export SEED_PASSPHRASE=… ` +
        "For other keys, use another folder: add DATA_DIR=<folder> before the command.",
    );
  const made = await writeNewFile(file, `${randomBytes(24).toString("base64url")}\n`);
  terminal.write(`passphrase  ${file}${made ? " written" : ""}\n`);
  return { ...env, SEED_PASSPHRASE_FILE: file };
}

function filled(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== "";
}

/**
 * The phrase of the seed file. Without a file, a new phrase: its owner has written it down before anything uses it.
 * @param withoutWords writes a new phrase without showing it.
 * @throws OperatorError
 */
export async function seedPhrase(env: Environment, terminal: Terminal, withoutWords: boolean): Promise<string> {
  const { seedFile, seedPassphrase } = parseSettings(env);
  if (seedPassphrase === null) throw new OperatorError("SEED_PASSPHRASE is not set.");
  if (existsSync(seedFile)) {
    const phrase = await readSeedFile(seedFile, seedPassphrase);
    terminal.write(`seed        ${seedFile}\n`);
    return phrase;
  }
  const weakness = weaknessOf(seedPassphrase);
  if (weakness !== null) throw new OperatorError(`The passphrase is weak: ${weakness}. No seed was written.`);
  const phrase = newSeedPhrase();
  if (!withoutWords) await showWords(phrase.split(" "), terminal);
  await writeSeedFile(seedFile, phrase, seedPassphrase);
  terminal.write(`seed        ${seedFile} written\n`);
  return phrase;
}

/** Shows the words, removes them from the screen, and asks for some of them until they are right. */
async function showWords(words: readonly string[], terminal: Terminal): Promise<void> {
  const { ask, remark, erase } = terminal;
  if (ask === undefined || remark === undefined)
    throw new OperatorError(
      "The words of a new seed cannot be shown and checked, because this is not a terminal. Run this in a terminal. Or add " +
        "--without-words: then only the seed file and its passphrase keep the keys. Or make the seed first: npm run cli -- keys create --show-phrase",
    );
  for (;;) {
    const lines = [
      "",
      "These 24 words are all keys of this installation. Write them down on paper, in this order. They are not shown again.",
      "Anyone who has them can move every token of your users.",
      "",
      ...rows(words),
      "",
    ];
    remark(`${lines.join("\n")}\n`);
    await ask("Press Enter when you have written them down. ");
    // The lines above, and that of the question.
    erase?.(lines.length + 1);
    const wrong = await wrongWord(words, ask);
    if (wrong === null) return;
    remark(`That is not word ${wrong.toString()}. Here are the words again.\n`);
  }
}

/** @returns the number of a word that was not known; null: all were. */
async function wrongWord(words: readonly string[], ask: (question: string) => Promise<string>): Promise<number | null> {
  const numbers = new Set<number>();
  while (numbers.size < ASKED) numbers.add(randomInt(words.length) + 1);
  for (const number of [...numbers].sort((one, other) => one - other)) {
    const answer = await ask(`Word ${number.toString()}: `);
    if (answer.trim().toLowerCase() !== words[number - 1]) return number;
  }
  return null;
}

function rows(words: readonly string[]): string[] {
  const cells = words.map((word, index) => `${(index + 1).toString().padStart(4)} ${word.padEnd(10)}`);
  return Array.from({ length: Math.ceil(cells.length / COLUMNS) }, (_, row) =>
    cells
      .slice(row * COLUMNS, (row + 1) * COLUMNS)
      .join("")
      .trimEnd(),
  );
}
