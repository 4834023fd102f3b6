import type { Server } from "node:http";
import type { AddressInfo, Server as TcpServer } from "node:net";

/** A server on a free port of this machine. */
export interface Listening {
  url: string;
  port: number;
  stop(): Promise<void>;
}

/** Lets the server listen on a free port of this machine. @returns its URL, and how to stop it. */
export async function listenOnLoopback(server: Server | TcpServer): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port.toString()}`,
    port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        // Clients keep connections open between calls.
        if ("closeAllConnections" in server) server.closeAllConnections();
      }),
  };
}
