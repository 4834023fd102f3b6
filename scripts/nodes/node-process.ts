import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { JsonRpcProvider, Network } from "ethers";

import { requireAnvil } from "./anvil-binary.ts";
import { freePort } from "./free-port.ts";
import { type NodeRules, rulesEnvironment } from "./node-rules.ts";

const ROOT = join(import.meta.dirname, "..", "..");

export type NodeKind = "hardhat" | "anvil";

/** A real node in a separate process. Anvil keeps its chain in a file, so it can be restarted. */
export class NodeProcess {
  readonly kind: NodeKind;
  readonly url: string;
  readonly provider: JsonRpcProvider;
  readonly #port: number;
  readonly #folder: string;
  readonly #rules: NodeRules;
  /** Unix time of block 0, in seconds. */
  readonly #began: number;
  #child: ChildProcess;

  private constructor(
    kind: NodeKind,
    port: number,
    folder: string,
    rules: NodeRules,
    began: number,
    child: ChildProcess,
  ) {
    this.kind = kind;
    this.#rules = rules;
    this.#port = port;
    this.#folder = folder;
    this.#began = began;
    this.#child = child;
    this.url = `http://127.0.0.1:${port.toString()}`;
    const network = Network.from(31_337);
    this.provider = new JsonRpcProvider(this.url, network, {
      staticNetwork: network,
      cacheTimeout: -1,
      batchStallTime: 0,
    });
  }

  static async start(kind: NodeKind, folder: string, rules: NodeRules = {}): Promise<NodeProcess> {
    const port = await freePort();
    const began = Math.floor(Date.now() / 1000);
    return new NodeProcess(kind, port, folder, rules, began, await launch(kind, port, folder, rules, began));
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error("the node is not running");
    return this.#child.pid;
  }

  /** Stops the node and starts it on the same chain (Anvil only). */
  async restart(downFor: () => Promise<void>): Promise<void> {
    if (this.kind !== "anvil")
      throw new Error("a Hardhat node loses its chain when it stops, so it cannot be restarted");
    const before = (await this.provider.send("eth_getBlockByNumber", ["0x0", false])) as { hash: string };
    // Anvil must not save its state while it makes a block: it would keep what the block did and lose the block. When the
    // block that is asked for here is there, no other one is being made.
    await this.provider.send("evm_setAutomine", [false]);
    await this.provider.send("evm_mine", []);
    await end(this.#child, "SIGTERM");
    await downFor();
    this.#child = await launch(this.kind, this.#port, this.#folder, this.#rules, this.#began);
    const after = (await this.provider.send("eth_getBlockByNumber", ["0x0", false])) as { hash: string };
    if (after.hash !== before.hash) throw new Error("the node has another chain after the restart");
  }

  async stop(): Promise<void> {
    this.provider.destroy();
    await end(this.#child, "SIGKILL");
  }
}

/** @param began time of block 0. Anvil creates a block 0 at each start, which must equal that of the chain that it loads. */
async function launch(
  kind: NodeKind,
  port: number,
  folder: string,
  rules: NodeRules,
  began: number,
): Promise<ChildProcess> {
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
          {
            cwd: ROOT,
            stdio: ["ignore", "pipe", "inherit"],
            env: { ...process.env, ...rulesEnvironment(rules) },
          },
        )
      : spawn(
          requireAnvil(),
          ["--port", port.toString(), "--chain-id", "31337", "--enable-tx-gas-limit"].concat([
            "--preserve-historical-states",
            "--state",
            join(folder, "anvil-state.json"),
            "--timestamp",
            began.toString(),
            ...(rules.hardfork === undefined ? [] : ["--hardfork", rules.hardfork]),
          ]),
          { stdio: ["ignore", "pipe", "inherit"] },
        );
  const ready = kind === "hardhat" ? "Started HTTP" : "Listening on";
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      if (chunk.toString().includes(ready)) resolve();
    });
    child.once("exit", () => {
      reject(new Error(`the ${kind} node exited at start`));
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
