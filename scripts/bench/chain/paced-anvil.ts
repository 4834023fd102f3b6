import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { JsonRpcProvider, Network } from "ethers";

import { requireAnvil } from "../../nodes/anvil-binary.ts";
import { freePort } from "../../nodes/free-port.ts";
import type { BenchNode } from "../harness/world.ts";

/** How a chain makes its blocks. */
export interface Pace {
  /** Gas limit of a block. */
  gas: number;
  /** From one block to the next. */
  seconds: number;
}

/** Milliseconds between two looks for a new block. */
const LOOK = 10;

/** Anvil. It mines each transaction at once until it gets another pace. */
export class PacedAnvil implements BenchNode {
  readonly url: string;
  readonly provider: JsonRpcProvider;
  readonly #child: ChildProcess;
  readonly #cache: string;

  private constructor(url: string, child: ChildProcess, cache: string) {
    this.url = url;
    this.#child = child;
    this.#cache = cache;
    const network = Network.from(31_337);
    this.provider = new JsonRpcProvider(url, network, {
      staticNetwork: network,
      cacheTimeout: -1,
      batchStallTime: 0,
      pollingInterval: 50,
    });
  }

  static async start(): Promise<PacedAnvil> {
    const port = (await freePort()).toString();
    // It keeps old states in files, gigabytes of them, and leaves them behind when it is killed.
    const cache = await mkdtemp(join(tmpdir(), "moneta-anvil-"));
    const args = ["--port", port, "--chain-id", "31337", "--enable-tx-gas-limit", "--gas-limit", "60000000"];
    const child = spawn(requireAnvil(), [...args, "--cache-path", cache], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise<void>((resolve, reject) => {
      // It is read to the end: the node would wait for a full pipe.
      child.stdout.on("data", (chunk: Buffer) => {
        if (chunk.toString().includes("Listening on")) resolve();
      });
      child.once("exit", () => {
        reject(new Error("the node exited at start"));
      });
    });
    return new PacedAnvil(`http://127.0.0.1:${port}`, child, cache);
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error("the node is not running");
    return this.#child.pid;
  }

  async mineAt({ gas, seconds }: Pace): Promise<void> {
    await this.provider.send("evm_setBlockGasLimit", [`0x${gas.toString(16)}`]);
    await this.provider.send("evm_setIntervalMining", [seconds]);
    // The gas limit is that of the next block.
    await this.nextBlock();
  }

  async mineAtOnce(): Promise<void> {
    await this.provider.send("evm_setAutomine", [true]);
    await this.mine();
  }

  async mine(): Promise<void> {
    await this.provider.send("evm_mine", []);
  }

  async head(): Promise<number> {
    return Number(await this.provider.send("eth_blockNumber", []));
  }

  /** Waits for a block above the newest one, or above `height`. @returns the newest one then. */
  async nextBlock(height?: number): Promise<number> {
    const before = height ?? (await this.head());
    for (;;) {
      const head = await this.head();
      if (head > before) return head;
      await wait(LOOK);
    }
  }

  async stop(): Promise<void> {
    this.provider.destroy();
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const gone = once(this.#child, "exit");
      this.#child.kill("SIGKILL");
      await gone;
    }
    await rm(this.#cache, { recursive: true, force: true });
  }
}
