import { expect } from "chai";

import { createClient } from "../../client/client.ts";
import { freePort } from "../../scripts/scene/loopback.ts";
import { deliveriesOf } from "../../scripts/start/tour/steps/webhooks.ts";
import { startFakeRpc } from "../support/fake-rpc.ts";
import { TestProcess } from "../support/process.ts";
import { useService } from "../support/use-service.ts";

describe("npm run tour", () => {
  const fixture = useService();
  const tour = (token: string, env: Record<string, string> = {}) =>
    new TestProcess(["scripts/start/tour-alone.ts", ...(token === "" ? [] : [token])], {
      MONETA_URL: fixture.baseUrl,
      RPC_URL: fixture.node.url,
      ...env,
    });
  const nowhere = async () => `http://127.0.0.1:${(await freePort()).toString()}`;

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

  const refusals: [string, () => TestProcess | Promise<TestProcess>, RegExp][] = [
    ["without a token", () => tour(""), /needs the token of an app: npm run tour -- <token>/],
    ["with an unknown token", () => tour("moneta_unknown"), /401/],
    ["without a chain", async () => tour(fixture.app.token, { RPC_URL: await nowhere() }), /No chain answers at http/],
    [
      "without a service",
      async () => tour(fixture.app.token, { MONETA_URL: await nowhere() }),
      /No service answers at/,
    ],
  ];
  for (const [title, run, message] of refusals) {
    it(`says what is wrong ${title}`, async () => {
      const program = await run();
      expect(await program.gone()).to.equal(1);
      expect(program.output)
        .to.match(message)
        .and.not.match(/^ +at /m);
    });
  }

  it("says that the tour is for a local chain", async () => {
    const other = await startFakeRpc(() => "0x14a34");
    try {
      const program = tour(fixture.app.token, { RPC_URL: other.url });
      expect(await program.gone()).to.equal(1);
      expect(program.output).to.contain(`is for a local chain (chain id 31337). ${other.url} is another one`);
      expect(other.calls.map(({ method }) => method)).to.deep.equal(["eth_chainId"]);
    } finally {
      await other.stop();
    }
  });
});
