import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { Instruments } from "../../harness/instruments.ts";

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
  const child = fork(join(import.meta.dirname, "server.ts"), [database, file], {
    execArgv: ["--import", join(import.meta.dirname, "..", "..", "harness", "preload.ts")],
  });
  const [port] = (await once(child, "message")) as [number];
  return {
    url: `http://127.0.0.1:${port.toString()}`,
    instruments: new Instruments(child),
    stop: async () => {
      const gone = once(child, "exit");
      child.kill();
      await gone;
    },
  };
}
