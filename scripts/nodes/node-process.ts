import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { JsonRpcProvider, Network } from "ethers";

import { requireAnvil } from "./anvil-binary.ts";
import { freePort } from "./free-port.ts";
import { Miner } from "./miner.ts";
import { type NodeRules, rulesEnvironment } from "./node-rules.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** Where Anvil keeps its chain. */
export const STATE_FILE = "anvil-state.json";

export type NodeKind = "hardhat" | "anvil";

/** A real node in a separate process. Anvil keeps its chain in a file, so it can be restarted. */
export class NodeProcess {
  readonly kind: NodeKind;
  readonly url: string;
  readonly provider: JsonRpcProvider;
  /** Unix time of block 0, in seconds. */
  readonly began: number;
  readonly #port: number;
  readonly #folder: string;
  readonly #rules: NodeRules;
  #child: ChildProcess;
  /** Of Anvil. A Hardhat node mines by itself. */
  #miner: Miner | null = null;

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
    this.began = began;
    this.#child = child;
    this.url = `http://127.0.0.1:${port.toString()}`;
    const network = Network.from(31_337);
    this.provider = new JsonRpcProvider(this.url, network, {
      staticNetwork: network,
      cacheTimeout: -1,
      batchStallTime: 0,
      pollingInterval: 50,
    });
  }

  /** @param began Unix time of block 0, for an Anvil whose chain is in the folder. */
  static async start(
    kind: NodeKind,
    folder: string,
    rules: NodeRules = {},
    began = Math.floor(Date.now() / 1000),
  ): Promise<NodeProcess> {
    const port = await freePort();
    const node = new NodeProcess(kind, port, folder, rules, began, await launch(kind, port, folder, rules, began));
    if (kind === "anvil") node.#miner = await Miner.start(node.provider);
    return node;
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error("the node is not running");
    return this.#child.pid;
  }

  async mine(): Promise<void> {
    await (this.#miner === null ? this.provider.send("evm_mine", []) : this.#miner.mine());
  }

  /** Replaces the newest blocks by as many empty ones (Anvil only). */
  async reorg(depth: number): Promise<void> {
    await this.#anvil().reorg(depth);
  }

  /** Stops the node and starts it on the same chain (Anvil only). */
  async restart(downFor: () => Promise<void>): Promise<void> {
    const first = async () => (await this.provider.send("eth_getBlockByNumber", ["0x0", false])) as { hash: string };
    await this.#anvil().restart(async () => {
      const before = await first();
      await end(this.#child, "SIGTERM");
      await downFor();
      this.#child = await launch(this.kind, this.#port, this.#folder, this.#rules, this.began);
      if ((await first()).hash !== before.hash) throw new Error("the node has another chain after the restart");
    });
  }

  async stop(): Promise<void> {
    await this.#miner?.stop();
    this.provider.destroy();
    await end(this.#child, "SIGKILL");
  }

  #anvil(): Miner {
    if (this.#miner !== null) return this.#miner;
    throw new Error("only Anvil reorganizes its chain on demand and keeps it over a restart");
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
          ["--port", port.toString(), "--chain-id", "31337", "--enable-tx-gas-limit", "--no-mining"].concat([
            "--preserve-historical-states",
            "--state",
            join(folder, STATE_FILE),
            // It leaves files there when it is killed. The folder is removed by those who made it.
            "--cache-path",
            join(folder, "anvil-cache"),
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
