import { expect } from "chai";

import { findPostgres } from "../../../scripts/postgres/programs.ts";

describe("findPostgres", () => {
  it("refuses a source that does not exist", () => {
    expect(() => findPostgres("docker")).to.throw(/^POSTGRES is "docker"\. Set it to "system" or "embedded"/);
  });
});
