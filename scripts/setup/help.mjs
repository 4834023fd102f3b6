// `npm run help`: what each npm script is for, from the table in CONTRIBUTING.md.
import { inProject, textOf } from "./project.mjs";

const rows = (textOf(inProject("CONTRIBUTING.md")) ?? "").matchAll(
  /^\| `(npm (?:start|test|run [\w:]+))` +\| (.+?) \|$/gm,
);
for (const [, command, text] of rows) {
  const sentence = text
    .replaceAll("`", "")
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1")
    .replace(/(?<=\w\w)\. .*/, ".");
  console.log(`${command.padEnd(26)}${sentence}`);
}
