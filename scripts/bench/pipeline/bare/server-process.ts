import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** Runs `server.ts` as a separate process. */
export async function startBareServer(written: string, read = ""): Promise<{ url: string; stop: () => Promise<void> }> {
  const child: ChildProcess = fork(join(import.meta.dirname, "server.ts"), [written, read], {
    execArgv: ["--import", "tsx"],
  });
  const [port] = (await once(child, "message")) as [number];
  return {
    url: `http://127.0.0.1:${port.toString()}`,
    stop: async () => {
      const gone = once(child, "exit");
      child.kill();
      await gone;
    },
  };
}
