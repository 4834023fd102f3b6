import { execFileSync } from "node:child_process";

import { expect } from "chai";

import { commandsOf, SECTIONS } from "../../../scripts/faults/rehearsal/first-hour.ts";

describe("docs/first-hour.md", () => {
  for (const heading of Object.keys(SECTIONS) as (keyof typeof SECTIONS)[]) {
    it(`has the commands that the rehearsal runs: ${heading}`, () => {
      const own = SECTIONS[heading].replaced.map((_, index) => `own-${index.toString()}`);
      const commands = commandsOf(heading, own).join("");
      for (const value of own) expect(commands).to.include(value);
      // It reads the commands, and runs nothing.
      execFileSync("bash", ["-n"], { input: commands });
    });
  }
});
