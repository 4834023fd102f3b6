import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import { parseSettings } from "../../../api/config/settings.ts";
import { VARIABLES } from "../../../api/config/variables.ts";
import { ROOT } from "../../support/process.ts";

const HOME = "/opt/moneta";
const unit = [...readFileSync(join(ROOT, "ops/moneta.service"), "utf8").matchAll(/^(\w+)=(.*)$/gm)];

function values(key: string): string[] {
  return unit.filter(([, name]) => name === key).map(([, , value]) => value!);
}

describe("ops/moneta.service", () => {
  it("starts the service with the Node of the packages", () => {
    const [program, entry] = values("ExecStart")[0]!.split(" ");
    expect(values("WorkingDirectory")).to.deep.equal([HOME]);
    expect(program!.startsWith(`${HOME}/node_modules/node/`)).to.equal(true);
    for (const path of [program!.slice(HOME.length), entry!]) expect(existsSync(join(ROOT, path)), path).to.equal(true);
  });

  it("sets valid settings, and keeps the data in the folder that it may write", () => {
    const pairs = values("Environment").flatMap((line) => line.split(" ").map((pair) => pair.split("=")));
    const { NODE_ENV, ...settings } = Object.fromEntries(pairs) as Record<string, string>;
    expect(NODE_ENV).to.equal("production");
    expect(Object.keys(VARIABLES)).to.include.members(Object.keys(settings));
    expect(parseSettings(settings).dataDir).to.equal(`/var/lib/${values("StateDirectory")[0]!}`);
    expect(values("ProtectSystem")).to.deep.equal(["strict"]);
  });

  it("gives the service as long to stop as Compose does", () => {
    const grace = /stop_grace_period: (\d+)s/.exec(readFileSync(join(ROOT, "compose.yaml"), "utf8"))![1];
    expect(values("TimeoutStopSec")).to.deep.equal([grace]);
    expect(values("KillSignal")).to.deep.equal(["SIGTERM"]);
  });
});
