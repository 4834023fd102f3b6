import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";

import { expect } from "chai";
import express from "express";

import { bodyReader } from "../../../api/v1/body.ts";
import { errorHandler } from "../../../api/v1/errors.ts";

describe("bodyReader", () => {
  describe("given a body that stops arriving", () => {
    it("answers 408 request_timeout and closes the connection", async () => {
      const read = bodyReader(1_000, { seconds: 0.1 });
      const app = express();
      app.use(async (request, response) => {
        await read(request, response);
        response.end();
      });
      app.use(errorHandler);
      const server = createServer(app);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
      socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
      const answer = await text(socket);
      server.close();
      expect(answer)
        .to.match(/^HTTP\/1.1 408 /)
        .and.to.contain("request_timeout");
    });
  });
});
