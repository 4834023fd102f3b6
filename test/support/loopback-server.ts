import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Lets the server listen on a free port of this machine. @returns its URL, and how to stop it. */
export async function listenOnLoopback(server: Server): Promise<{ url: string; stop: () => Promise<void> }> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port.toString()}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        // Clients keep connections open between calls.
        server.closeAllConnections();
      }),
  };
}
