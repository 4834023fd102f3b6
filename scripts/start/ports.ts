import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

import { codeOf, messageOf, Problem } from "./problem.ts";

/**
 * Makes sure that nobody listens on the port, before anything is started in vain.
 * @param port 0: any free one.
 * @returns the port.
 * @throws Problem that names the variable to change.
 */
export async function freePort(variable: "PORT" | "RPC_PORT", port: number): Promise<number> {
  try {
    const free = await tryListening(port, "127.0.0.1");
    // `localhost` is this address too, and a stranger there would answer in our place.
    await tryListening(free, "::1").catch((error: unknown) => {
      if (codeOf(error) === "EADDRINUSE") throw error;
    });
    return free;
  } catch (error) {
    const why = codeOf(error) === "EADDRINUSE" ? "is in use" : `cannot be used (${messageOf(error)})`;
    const other = port < 65_535 ? port + 1 : port - 1;
    throw new Problem(
      `Port ${port} ${why}. Choose another with ${variable}, for example: ${variable}=${other} npm start`,
    );
  }
}

async function tryListening(port: number, host: string): Promise<number> {
  const server = createServer();
  server.listen(port, host);
  await once(server, "listening");
  const { port: taken } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return taken;
}
