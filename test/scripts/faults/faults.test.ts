import { expect } from "chai";

import { CRASH_POINTS } from "../../../api/shared/crash-point.ts";
import { possibleFaults } from "../../../scripts/faults/campaign.ts";
import { PROCESS_ROLES } from "../../../scripts/faults/service.ts";

describe("campaign: possibleFaults", () => {
  const names = (engine: "sqlite" | "postgres", node: "anvil" | "hardhat" = "anvil") =>
    possibleFaults(node, engine).map(({ name }) => name);

  for (const engine of ["sqlite", "postgres"] as const) {
    it(`has each crash point once on ${engine}, and no name twice`, () => {
      expect(names(engine)).to.include.members(CRASH_POINTS.map((point) => `kill -9 at ${point}`));
      expect(names(engine)).to.deep.equal([...new Set(names(engine))]);
    });
  }

  it("has all faults of the node and the chain on both engines", () => {
    const ofOneEngine = names("sqlite").filter((name) => !names("postgres").includes(name));
    expect(ofOneEngine).to.deep.equal([
      "kill -9 at a random time",
      "media that kill the process",
      "disk full",
      "database read-only",
      "clock jumps",
      "two processes, one lease",
    ]);
  });

  it("kills and pauses processes of each role on PostgreSQL", () => {
    for (const role of PROCESS_ROLES) {
      expect(names("postgres")).to.include.members([
        `kill -9 of a process: ${role}`,
        `SIGSTOP longer than a lease: ${role}`,
      ]);
    }
  });

  it("leaves out what only Anvil can do", () => {
    expect(names("postgres").filter((name) => !names("postgres", "hardhat").includes(name))).to.have.lengthOf(3);
  });
});
