import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { LOCK, locked } from "../../../client/drop-node/lock.ts";
import { pause } from "../../../scripts/scene/program.ts";
import { TestProcess } from "../../support/process.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useDrop } from "./support/use-drop.ts";

describe("command line: drop, given the command is killed at any moment", () => {
  const drop = useDrop();
  const { moneta, place, words, run, json, minted, report } = drop;
  const COUNT = 300;
  const start = (...more: string[]) => new TestProcess(["api/cli/main.ts", ...words("--yes", ...more)], drop.env);

  it("continues and mints every token once", async () => {
    await drop.writeJsonLayout(COUNT);
    for (const moment of [/uploaded [1-9]\d* of/, /sent 0 of/, /sent 250 of/, /sent 300 of/]) {
      const killed = start();
      await killed.printed(moment);
      expect(await killed.end("SIGKILL")).to.equal("SIGKILL");
    }
    expect(await start("--json").gone()).to.equal(0);
    const names = new Set((await report()).slice(1).map((line) => line.split(",")[1]));
    expect(names.size).to.equal(COUNT);
    const { total } = await moneta.api.ok<{ total: number }>("GET", `/v1/collections/${drop.collection}?limit=1`);
    expect(total).to.equal(COUNT);
  });

  it("refuses to run twice at the same time, also beside the lock file of a killed process", async () => {
    await drop.writeJsonLayout(1);
    await writeFile(join(place.path, LOCK), "");
    const held = start();
    await held.printed(/sent 0 of/);
    await pause(Number(held.child.pid));
    expect((await rejectionOf(run("--yes"))).message).to.contain("Another process");
    await held.end("SIGKILL");
    await locked(place.path, async () => {
      expect((await rejectionOf(run("--yes"))).message).to.contain("Another process");
    });
    expect(await json("--yes")).to.include({ state: "finished", completed: 1 });
    expect(await minted()).to.have.length(1);
  });
});
