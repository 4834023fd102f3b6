import { spawnSync } from "node:child_process";
import { dirname } from "node:path";

import { expect } from "chai";

describe("npm run rehearse -- production", () => {
  it("fails without its programs, and names them all", () => {
    // Only Node is found there.
    const env = { PATH: dirname(process.execPath) };
    const words = ["scripts/faults/rehearsal/main.ts", "production"];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: "utf8" });
    expect(status).to.equal(1);
    for (const program of ["nginx", "pgbouncer", "openssl"])
      expect(stdout).to.contain(`(needs ${program}: Debian's package`);
    expect(stderr).to.contain('Nothing of "production" was tried.');
  });
});
