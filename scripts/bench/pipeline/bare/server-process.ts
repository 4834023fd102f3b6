import { join } from "node:path";

import { type Instruments, MeasuredProgram } from "../../harness/measured-service.ts";

interface BareServer {
  url: string;
  instruments: Instruments;
  stop: () => Promise<void>;
}

interface BareStorage {
  /** URL of the service's database, which it reads. On PostgreSQL it writes there too, into a table of its own. */
  database: string;
  /** The SQLite file that it writes. */
  file: string;
}

/** Runs `server.ts` as a separate process, with the same instruments inside as the service. */
export async function startBareServer({ database, file }: BareStorage): Promise<BareServer> {
  const server = new MeasuredProgram([join(import.meta.dirname, "server.ts"), database, file]);
  const port = await server.message<number>();
  return {
    url: `http://127.0.0.1:${port.toString()}`,
    instruments: server.instruments,
    stop: async () => {
      await server.end("SIGTERM");
    },
  };
}
