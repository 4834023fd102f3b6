import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A webhook receiver over real HTTP, which answers as a test says. */
export interface Receiver {
  url: string;
  received: Received[];
  respond: (received: Received, response: ServerResponse) => void;
  /** Resolves once so many have arrived. */
  arrived(count: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  let waiting: { count: number; done: () => void }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const one = { path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks).toString() };
      receiver.received.push(one);
      for (const { count, done } of waiting) if (receiver.received.length >= count) done();
      waiting = waiting.filter(({ count }) => receiver.received.length < count);
      receiver.respond(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port.toString()}`,
    received: [],
    respond: (_received, response) => response.end(),
    arrived: (count) =>
      new Promise((done) => {
        if (receiver.received.length >= count) done();
        else waiting.push({ count, done });
      }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
  return receiver;
}
