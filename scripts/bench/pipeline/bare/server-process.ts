import { join } from "node:path";

import { Program } from "../../../scene/program.ts";
import { Instruments } from "../../harness/measured-service.ts";

const HARNESS = join(import.meta.dirname, "..", "..", "harness");

export interface BareServer {
  url: string;
  instruments: Instruments;
  stop: () => Promise<void>;
}

export interface BareStorage {
  /** URL of the service's database, which it reads. On PostgreSQL it writes there too, into a table of its own. */
  database: string;
  /** The SQLite file that it writes. */
  file: string;
}

/** Runs `server.ts` as a separate process, with the same instruments inside as the service. */
export async function startBareServer({ database, file }: BareStorage): Promise<BareServer> {
  const preload = ["--import", join(HARNESS, "preload.ts")];
  const server = new Program([...preload, join(import.meta.dirname, "server.ts"), database, file], { channel: true });
  const port = await server.message<number>();
  return {
    url: `http://127.0.0.1:${port.toString()}`,
    instruments: new Instruments(server),
    stop: async () => {
      await server.end("SIGTERM");
    },
  };
}
