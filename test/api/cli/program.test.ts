import { execFile } from "node:child_process";
import { Readable } from "node:stream";
import { promisify } from "node:util";

import { expect } from "chai";
import type { Command } from "commander";

import { createProgram, NOUNS } from "../../../api/cli/program.ts";
import { quiet } from "./support/run.ts";
import { useCli } from "./support/use-cli.ts";

/** The program with the commands that the words name. @param write gets the help that it prints. */
async function programOf(words: string[], write: (text: string) => void = () => undefined): Promise<Command> {
  const program = await createProgram({ env: {}, input: Readable.from([]), write }, words);
  quiet(program, write);
  return program;
}

function everyCommand(): Promise<Command> {
  return programOf(NOUNS.map(({ name }) => name));
}

async function helpOf(path: string[]): Promise<string> {
  let help = "";
  const program = await programOf(path, (text) => {
    help += text;
  });
  await program.parseAsync([...path, "--help"], { from: "user" }).catch(() => undefined);
  return help;
}

describe("the command line", () => {
  const cli = useCli();

  it("lists the settings with their defaults", async () => {
    expect(await cli.run("settings")).to.match(/^SERVICE\nPORT {2}\(default: 3000\)\n {4}Port of the API\./);
  });

  it("shows the list of commands without loading the service", async () => {
    const words = ["--import", "./test/support/print-modules.mjs", "api/cli/main.ts", "--help"];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, words);
    expect(stdout).to.contain("Commands work while the service runs.");
    expect(stderr.match(/(?<=loads ).+/g)).to.have.members([
      "api/cli",
      "api/config",
      "api/domain",
      "api/shared",
      "commander",
    ]);
  });

  it("runs as a program: result on standard output; error in one line with exit code 1", async () => {
    const main = (...words: string[]) =>
      promisify(execFile)(process.execPath, ["api/cli/main.ts", ...words], { env: { ...process.env, ...cli.env } });
    expect((await main("--version")).stdout).to.match(/^\d+\.\d+\.\d+\n$/);
    const { stdout } = await main("app", "create", "spawned", "--json");
    expect(Object.keys(JSON.parse(stdout) as object)).to.deep.equal(["app_id", "name", "token"]);
    const failure = await main("app", "create", "spawned").then(
      () => null,
      (error: unknown) => error as { code: number; stderr: string },
    );
    expect(failure?.code).to.equal(1);
    expect(failure?.stderr).to.equal(
      "An app named spawned already exists. Choose another name, or list the apps with `app list`.\n",
    );
  });

  it("lists a command that is not loaded as it lists one that is", async () => {
    const unloaded = await programOf([]);
    expect(unloaded.helpInformation()).to.equal((await everyCommand()).helpInformation());
  });

  it("documents every command: usage, description and JSON output", async () => {
    const leaves = leavesOf(await everyCommand());
    expect(leaves.length).to.be.at.least(16);
    for (const path of leaves) {
      const help = await helpOf(path);
      expect(help, path.join(" "))
        .to.contain(`Usage: npm run cli -- ${path.join(" ")}`)
        .and.contain("--json")
        .and.contain("JSON output: ");
      expect(help.split("\n")[2], path.join(" ")).to.match(/^[A-Z].*[.;]?$/);
    }
  });

  it("shows an example of every command that commander accepts", async () => {
    for (const path of leavesOf(await everyCommand())) {
      const help = await helpOf(path);
      const examples = [...help.matchAll(/^ {2}npm run cli -- (.+)$/gm)].map(([, example]) => example ?? "");
      expect(examples, path.join(" ")).to.not.be.empty;
      for (const example of examples) {
        expect(example.split(" ").slice(0, path.length)).to.deep.equal(path);
        const program = await programOf(path);
        let called = false;
        commandAt(program, path).action(() => {
          called = true;
        });
        // The shell removes a redirection.
        await program.parseAsync(example.replace(/ < .*/, "").split(" "), { from: "user" });
        expect(called, example).to.equal(true);
      }
    }
  });
});

function leavesOf(command: Command, path: string[] = []): string[][] {
  if (command.commands.length === 0) return [path];
  return command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]));
}

function commandAt(program: Command, path: string[]): Command {
  return path.reduce<Command>((command, name) => {
    const child = command.commands.find((one) => one.name() === name);
    if (child === undefined) throw new Error(`there is no command ${path.join(" ")}`);
    return child;
  }, program);
}
