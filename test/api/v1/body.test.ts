import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";

import { expect } from "chai";
import express from "express";

import { bodyReader } from "../../../api/v1/body.ts";
import { errorHandler } from "../../../api/v1/errors.ts";
import { OpenBodies } from "../../../api/v1/held-bytes.ts";
import { eventually } from "../../support/eventually.ts";
import { HeldTimers } from "../../support/held-timers.ts";

/** Milliseconds that a caller gets for the rest of a refused body. */
const REST = 5_000;

describe("bodyReader", () => {
  describe("given a body that stops arriving", () => {
    it("answers 408 request_timeout and closes the connection", async () => {
      const read = bodyReader(1_000, new OpenBodies(1_000), { seconds: 0.1 });
      const app = express();
      app.use(async (request, response) => {
        await read(request, response, "app");
        response.end();
      });
      app.use(errorHandler);
      const server = createServer(app);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
      socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
      const timers = new HeldTimers(REST);
      try {
        let arrived = "";
        socket.on("data", (part) => (arrived += part.toString()));
        await eventually(() => Promise.resolve(arrived.includes("request_timeout") ? true : undefined));
        expect(socket.readableEnded).to.equal(false);
        // The caller does not finish the body in the time that it still gets.
        const closed = once(socket, "close");
        await timers.ring();
        await closed;
        expect(arrived).to.match(/^HTTP\/1.1 408 /);
      } finally {
        timers.release();
        server.close();
      }
    });
  });
});
