import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

import { expect } from "chai";

interface Run {
  child: ChildProcessByStdio<null, Readable, null>;
  group: number;
  /** Lines of standard output so far. */
  lines: string[];
  /** Its exit code, or the signal that ended it, once all its output is there. */
  ended: Promise<unknown>;
}

describe("scripts/setup/run.mjs", function () {
  let run: Run;

  beforeEach(async function () {
    // A Windows console signals by itself.
    if (process.platform === "win32") this.skip();
    run = await start("one", "two words");
  });

  afterEach(() => {
    if (run.child.exitCode === null && run.child.signalCode === null) process.kill(-run.group, "SIGKILL");
  });

  it("runs the entry on the project's Node, with its arguments, and writes nothing else to stdout", async () => {
    run.child.kill("SIGTERM");
    await run.ended;
    expect(run.lines[0]).to.match(/^ready 24\.\S+ one two words$/);
    expect(run.lines).to.have.length(2);
  });

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    it(`passes ${signal} on once and ends with the code of the entry`, async () => {
      run.child.kill(signal);
      expect(await run.ended).to.equal(7);
      expect(run.lines.slice(1)).to.deep.equal([signal]);
    });

    it(`passes ${signal} on once when the whole process group gets it (Ctrl-C) and npm forwards it too`, async () => {
      process.kill(-run.group, signal);
      run.child.kill(signal);
      expect(await run.ended).to.equal(7);
      expect(run.lines.slice(1)).to.deep.equal([signal]);
    });
  }

  it("leaves no entry behind when it is killed", async () => {
    process.kill(-run.group, "SIGKILL");
    await run.ended;
    // Standard output was open until the entry had ended, too.
    expect(run.lines.slice(1)).to.deep.equal(["SIGTERM"]);
  });
});

async function start(...args: string[]): Promise<Run> {
  const child = spawn(process.execPath, ["scripts/setup/run.mjs", "test/scripts/support/entry.ts", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => lines.push(line));
  const ended = once(child, "close").then(([code, signal]: unknown[]) => code ?? signal);
  await once(reader, "line");
  if (child.pid === undefined) throw new Error("run.mjs did not start");
  return { child, group: child.pid, lines, ended };
}
