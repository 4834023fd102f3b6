import { expect } from "chai";

import { TestProcess } from "../support/process.ts";
import { useService } from "../support/use-service.ts";

describe("npm run tour", () => {
  const fixture = useService();
  const tour = (token: string) =>
    new TestProcess(["scripts/start/tour-alone.ts", token], {
      MONETA_URL: fixture.baseUrl,
      RPC_URL: fixture.node.url,
    });

  it("runs the tour as the app of the token, with a line for each step, and ends", async () => {
    const program = tour(fixture.app.token);
    expect(await program.gone(), program.output).to.equal(0);
    const lines = program.output.trimEnd().split("\n");
    expect(lines.map((line) => Number(line.slice(0, 2)))).to.deep.equal(lines.map((_, index) => index + 1));
    expect(lines[7]).to.match(/^ 8 {2}Mint 100 tokens .* at once: done in \d+\.\d s, with \d+ transactions$/);
    expect(lines[12]).to.match(/^13 {2}Check the webhooks: 240 events arrived, all with a valid signature$/);
    expect(lines).to.have.length(13);
    expect((await fixture.api.ok<{ total: number }>("GET", "/v1/collections")).total).to.equal(2);
  });

  it("says what is wrong with an unknown token", async () => {
    const program = tour("moneta_unknown");
    expect(await program.gone()).to.equal(1);
    expect(program.output)
      .to.match(/401/)
      .and.not.match(/^ +at /m);
  });
});
