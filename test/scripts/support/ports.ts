import { once } from "node:events";
import { createServer, type Server } from "node:net";

import { eventually } from "../../support/eventually.ts";

/** Listens on the port of loopback. @throws when another program does already. */
export async function occupy(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** Resolves once nobody listens on the port. */
export async function released(port: number): Promise<void> {
  await eventually(async () => {
    try {
      (await occupy(port)).close();
      return true;
    } catch {
      return undefined;
    }
  });
}
