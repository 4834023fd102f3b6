import { expect } from "chai";

import { createClient } from "../../client/client.ts";
import { deliveriesOf } from "../../scripts/start/tour/steps.ts";
import { TestProcess } from "../support/process.ts";
import { useService } from "../support/use-service.ts";

describe("npm run tour", () => {
  const fixture = useService();
  const tour = (token: string) =>
    new TestProcess(["scripts/start/tour-alone.ts", ...(token === "" ? [] : [token])], {
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

  it("finds what the service knows of the deliveries of a request", async () => {
    const client = createClient({ baseUrl: fixture.baseUrl, token: fixture.app.token });
    // Those of the first request are on the last page of deliveries.
    for (const offset of [0, 119]) {
      const list = `/v1/requests?limit=1&offset=${offset}`;
      const [request] = (await fixture.api.ok<{ requests: { request_id: string }[] }>("GET", list)).requests;
      // The tour may have removed its webhook before the result of the last delivery was stored.
      expect(await deliveriesOf(client, request!.request_id)).to.match(
        /^Its deliveries: "completed" \w+, tries \d+.*; "sent" \w+, tries \d+/,
      );
    }
    expect(await deliveriesOf(client, "unknown")).to.equal("The service has no delivery of it");
  });

  for (const [title, token, message] of [
    ["without a token", "", /needs the token of an app: npm run tour -- <token>/],
    ["with an unknown token", "moneta_unknown", /401/],
  ] as const) {
    it(`says what is wrong ${title}`, async () => {
      const program = tour(token);
      expect(await program.gone()).to.equal(1);
      expect(program.output)
        .to.match(message)
        .and.not.match(/^ +at /m);
    });
  }
});
