import { once } from "node:events";
import { createServer } from "node:http";

import { expect } from "chai";

import { DropService } from "../../../client/drop-node/service.ts";
import { OperatorError } from "../../../api/operate/operator-error.ts";
import { freePort } from "../../../scripts/scene/loopback.ts";
import { eventually } from "../../support/eventually.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { runCli } from "./support/run.ts";

const ADDRESS = "0x00000000000000000000000000000000000A11cE";

describe("command line: drop without a service", () => {
  const refusal = (env: Record<string, string>, ...more: string[]) =>
    rejectionOf(
      runCli({ MONETA_TOKEN: "moneta_x", ...env }, "drop", ".", "--collection", ADDRESS, "--user", "alice", ...more),
    );

  it("ends at the first call when nothing listens at the URL", async () => {
    const url = `http://127.0.0.1:${(await freePort()).toString()}`;
    const refused = await refusal({}, "--url", url);
    expect(refused).to.be.instanceOf(OperatorError);
    expect(refused.message).to.equal(
      `No service answers at ${url} (ECONNREFUSED). Start it, or name its URL with --url.`,
    );
  });

  it("takes the URL from MONETA_URL", async () => {
    const url = `http://127.0.0.1:${(await freePort()).toString()}`;
    expect((await refusal({ MONETA_URL: url })).message).to.contain(`No service answers at ${url} `);
    expect((await refusal({ MONETA_URL: "ftp://a" })).message).to.equal(
      "--url, or the variable MONETA_URL, must be an http or https URL.",
    );
  });

  it("ends at the first call when nobody knows the name of the host", async () => {
    const { message } = await refusal({}, "--url", "http://moneta.invalid");
    expect(message).to.match(/^No service answers at http:\/\/moneta\.invalid \((ENOTFOUND|EAI_AGAIN)\)\./);
  });

  it("goes on after an interruption of a service that has answered", async () => {
    const page = JSON.stringify({ collections: [], total: 0, limit: 30, offset: 0, next: null });
    const start = async (port: number) => {
      const server = createServer((_request, response) => {
        response.setHeader("connection", "close").setHeader("content-type", "application/json").end(page);
      });
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
      return server;
    };
    const port = await freePort();
    const url = `http://127.0.0.1:${port.toString()}`;
    const service = new DropService({ url, token: "x" });
    const first = await start(port);
    expect(await service.collection(ADDRESS)).to.equal(null);
    first.close();
    await once(first, "close");
    const sent = globalThis.fetch;
    let failures = 0;
    globalThis.fetch = async (...call) => {
      try {
        return await sent(...call);
      } catch (error) {
        failures += 1;
        throw error;
      }
    };
    try {
      const again = service.collection(ADDRESS);
      await eventually(() => Promise.resolve(failures > 0 ? true : undefined));
      const second = await start(port);
      expect(await again).to.equal(null);
      second.close();
    } finally {
      globalThis.fetch = sent;
    }
  });
});
