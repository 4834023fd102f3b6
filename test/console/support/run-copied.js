import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { runProgram } from "../../scripts/client/support.ts";
import { ROOT } from "../../support/process.ts";
const CLIENT = pathToFileURL(join(ROOT, "client/entry.ts")).href;
/** Runs a text of "Copy as curl" in a shell. @returns the answers as the commands print them, one after the other. */
export async function runCurl(text, { cwd, env }) {
    return outputOf("sh", ["-ec", `curl() { command curl --silent --show-error "$@"; }\n${text}`], { cwd, env });
}
/** Runs a text of "Copy as TypeScript" with the project's own client. @returns the answer */
export async function runTypeScript(text, { cwd, env }) {
    const code = text.replace('"@moneta/client"', JSON.stringify(CLIENT));
    const file = join(cwd, "copied.mts");
    await writeFile(file, `${code}\nconsole.log(JSON.stringify(answer));\n`);
    return JSON.parse(await outputOf(process.execPath, [file], { cwd, env }));
}
async function outputOf(program, args, { cwd, env }) {
    const { output, errors, code } = await runProgram(program, args, { cwd, env: { ...process.env, ...env } });
    expect(code, `${args.join(" ")}\n${output}${errors}`).to.equal(0);
    return output;
}
