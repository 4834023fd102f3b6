import { createProgram } from "../../api/cli/program.ts";
/** Runs a command of the command line in this process. @returns its output. @throws when it fails. */
export async function runCommand(env, words) {
    let output = "";
    const write = (text) => {
        output += text;
    };
    const program = await createProgram({ env: { PATH: process.env["PATH"], ...env }, write }, words);
    await program.parseAsync(words, { from: "user" });
    return output;
}
