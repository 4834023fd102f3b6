import { createServer, type Server } from "node:http";
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import type { AddressInfo } from "node:net";

import { expect } from "chai";
import { request } from "undici";

import { createOutboundAgent } from "../../../api/outbound/agent.ts";

describe("createOutboundAgent", () => {
  let server: Server;
  let port: string;
  let reached: number;

  before(async () => {
    server = createServer((_request, response) => {
      reached += 1;
      response.end("inside");
    });
    // Listens on every address of this machine.
    await new Promise<void>((resolve) => server.listen(0, resolve));
    port = (server.address() as AddressInfo).port.toString();
  });
  beforeEach(() => {
    reached = 0;
  });
  after(() => new Promise((resolve) => server.close(resolve)));

  async function codeOf(
    url: string,
    policy = { allowedHosts: new Set<string>(), allowLoopback: false },
  ): Promise<string> {
    const dispatcher = createOutboundAgent(policy);
    try {
      const { statusCode, body } = await request(url, { dispatcher });
      await body.dump();
      return statusCode.toString();
    } catch (error) {
      return (error as { code?: string }).code ?? "?";
    } finally {
      await dispatcher.close();
    }
  }

  it("connects where the policy allows it", async () => {
    expect(await codeOf(`http://127.0.0.1:${port}/`, { allowedHosts: new Set(), allowLoopback: true })).to.equal("200");
    expect(
      await codeOf(`http://localhost:${port}/`, { allowedHosts: new Set(["localhost"]), allowLoopback: false }),
    ).to.equal("200");
    expect(reached).to.equal(2);
  });

  describe("given a name", () => {
    const original = dns.lookup;
    let answers: dns.LookupAddress[];
    let lookups: number;
    let later: dns.LookupAddress[] | null = null;
    beforeEach(() => {
      lookups = 0;
    });
    before(() => {
      // The agent keeps a reference to the lookup function, so the test replaces the resolver below it.
      (dns as { lookup: unknown }).lookup = (
        _host: string,
        _options: unknown,
        done: (e: null, a: dns.LookupAddress[]) => void,
      ) => {
        lookups += 1;
        // A test may give later lookups another answer.
        const told = answers;
        answers = later ?? answers;
        done(null, told);
      };
      syncBuiltinESMExports();
    });
    after(() => {
      (dns as { lookup: unknown }).lookup = original;
      syncBuiltinESMExports();
    });

    it("is resolved once for the check and the connection (no DNS rebinding)", async () => {
      const local = { allowedHosts: new Set<string>(), allowLoopback: true };
      answers = [{ address: "127.0.0.1", family: 4 }];
      later = [{ address: "10.0.0.1", family: 4 }];
      try {
        expect(await codeOf(`http://rebinding.example:${port}/`, local)).to.equal("200");
        expect([lookups, reached]).to.deep.equal([1, 1]);
        // A new connection resolves and checks again.
        expect(await codeOf(`http://rebinding.example:${port}/`, local)).to.equal("BLOCKED_ADDRESS");
        expect([lookups, reached]).to.deep.equal([2, 1]);
      } finally {
        later = null;
      }
    });

    it("is refused when one of its addresses is not public", async () => {
      answers = [
        { address: "8.8.8.8", family: 4 },
        { address: "127.0.0.1", family: 4 },
      ];
      expect(await codeOf(`http://mixed.example:${port}/`)).to.equal("BLOCKED_ADDRESS");
      answers = [{ address: "169.254.169.254", family: 4 }];
      expect(await codeOf(`http://metadata.example:${port}/`)).to.equal("BLOCKED_ADDRESS");
      answers = [];
      expect(await codeOf(`http://nothing.example:${port}/`)).to.equal("BLOCKED_ADDRESS");
      expect(reached).to.equal(0);
    });
  });
});
