import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { JsonRpcProvider, Network } from "ethers";

import { requireAnvil } from "./anvil-binary.ts";
import { freePort } from "./free-port.ts";

const ROOT = join(import.meta.dirname, "..", "..");

export type NodeKind = "hardhat" | "anvil";

/** The node itself forgot its chain: nothing can be said of a service on top of it. */
export class NodeLostChain extends Error {
  override readonly name = "NodeLostChain";
}

/** A real node as a process of its own. Anvil keeps its chain in a file, so it can be stopped and started. */
export class NodeProcess {
  readonly kind: NodeKind;
  readonly url: string;
  readonly provider: JsonRpcProvider;
  readonly #port: number;
  readonly #folder: string;
  #child: ChildProcess;

  private constructor(kind: NodeKind, port: number, folder: string, child: ChildProcess) {
    this.kind = kind;
    this.#port = port;
    this.#folder = folder;
    this.#child = child;
    this.url = `http://127.0.0.1:${port.toString()}`;
    const network = Network.from(31_337);
    this.provider = new JsonRpcProvider(this.url, network, {
      staticNetwork: network,
      cacheTimeout: -1,
      batchStallTime: 0,
    });
  }

  static async start(kind: NodeKind, folder: string): Promise<NodeProcess> {
    const port = await freePort();
    return new NodeProcess(kind, port, folder, await launch(kind, port, folder));
  }

  /** Stops the node and starts it on the same chain (Anvil only). */
  async restart(downFor: () => Promise<void>): Promise<void> {
    if (this.kind !== "anvil") throw new Error("a Hardhat node forgets its chain when it stops");
    const before = (await this.provider.send("eth_getBlockByNumber", ["0x0", false])) as { hash: string };
    await end(this.#child, "SIGTERM");
    await downFor();
    this.#child = await launch(this.kind, this.#port, this.#folder);
    const after = (await this.provider.send("eth_getBlockByNumber", ["0x0", false])) as { hash: string };
    if (after.hash !== before.hash) throw new NodeLostChain("the node came back with another chain");
  }

  async stop(): Promise<void> {
    this.provider.destroy();
    await end(this.#child, "SIGKILL");
  }
}

async function launch(kind: NodeKind, port: number, folder: string): Promise<ChildProcess> {
  const child =
    kind === "hardhat"
      ? spawn(
          process.execPath,
          [
            join(ROOT, "node_modules/hardhat/dist/src/cli.js"),
            "node",
            "--hostname",
            "127.0.0.1",
            "--port",
            port.toString(),
          ],
          { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] },
        )
      : spawn(
          requireAnvil(),
          ["--port", port.toString(), "--chain-id", "31337", "--enable-tx-gas-limit"].concat([
            "--preserve-historical-states",
            "--state",
            join(folder, "anvil-state.json"),
          ]),
          { stdio: ["ignore", "pipe", "inherit"] },
        );
  const ready = kind === "hardhat" ? "Started HTTP" : "Listening on";
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      if (chunk.toString().includes(ready)) resolve();
    });
    child.once("exit", () => {
      reject(new Error(`the ${kind} node ended at once`));
    });
  });
  return child;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill(signal);
  await gone;
}
