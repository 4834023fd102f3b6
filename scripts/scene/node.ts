import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { JsonRpcProvider, Network, toQuantity } from "ethers";

import { anvilBinary } from "./anvil.ts";
import { freePort } from "./loopback.ts";
import { Miner } from "./miner.ts";
import { Program } from "./program.ts";

/** Where an Anvil that can restart keeps its chain. */
export const STATE_FILE = "anvil-state.json";
/** The chain id of local chains. */
const LOCAL_CHAIN = 31_337;
/** Milliseconds between two polls for a new block. */
const LOOK = 10;
/** So many blocks above a block make it final for Hardhat. It asks another node only once for what was stored at a final block. */
const FINAL = 256;

export type NodeKind = "hardhat" | "anvil";

/** The rules of the chain. hardhat.config.ts reads them from the environment. */
export interface NodeRules {
  /** Name of the hard fork whose rules apply. Default: the newest stable one. */
  hardfork?: string;
}

/** How a chain makes its blocks. */
export interface Pace {
  /** Gas limit of a block. */
  gas: number;
  /** From one block to the next. */
  seconds: number;
}

interface AnvilOptions {
  chainId?: number;
  /** Whether a `Miner` mines its blocks. By default it does so itself. */
  miner?: boolean;
  /** For files that it leaves behind. By default a folder of its own, which is removed with the node. */
  cache?: string;
}

/** Starts the node: at first, and again after a restart. */
type Launch = () => Promise<Program>;

/** A real node in a separate process, on a free port of this machine. */
export class NodeProcess {
  readonly kind: NodeKind;
  readonly url: string;
  readonly provider: JsonRpcProvider;
  /** Unix time of block 0, in seconds, for an Anvil that can restart. */
  readonly began: number;
  readonly #launch: Launch;
  #program: Program;
  /** Of an Anvil that does not mine by itself. */
  #miner: Miner | null = null;
  /** Removed with the node. */
  #folder: string | null = null;
  #stopping: Promise<void> | null = null;

  private constructor(kind: NodeKind, port: number, program: Program, launch: Launch, chainId: number, began: number) {
    this.kind = kind;
    this.began = began;
    this.#program = program;
    this.#launch = launch;
    this.url = `http://127.0.0.1:${port.toString()}`;
    const network = Network.from(chainId);
    this.provider = new JsonRpcProvider(this.url, network, {
      staticNetwork: network,
      cacheTimeout: -1,
      batchStallTime: 0,
      pollingInterval: 50,
    });
  }

  /**
   * A Hardhat node; or an Anvil that keeps its chain in the folder, can restart and reorganize, and mines as a `Miner` does.
   * @param began Unix time of block 0, for an Anvil whose chain is in the folder already.
   */
  static async start(
    kind: NodeKind,
    folder: string,
    rules: NodeRules = {},
    began = Math.floor(Date.now() / 1000),
  ): Promise<NodeProcess> {
    if (kind === "hardhat") return NodeProcess.hardhat(rules);
    const state = ["--preserve-historical-states", "--state", join(folder, STATE_FILE)];
    // It creates a block 0 at each start, which must equal that of the chain that it loads.
    const same = [
      "--timestamp",
      began.toString(),
      ...(rules.hardfork === undefined ? [] : ["--hardfork", rules.hardfork]),
    ];
    const options = { miner: true, cache: join(folder, "anvil-cache") };
    return NodeProcess.anvil(["--enable-tx-gas-limit", ...state, ...same], options, began);
  }

  /** @param at port; a free one when absent. */
  static async hardhat(rules: NodeRules = {}, at?: number): Promise<NodeProcess> {
    const port = at ?? (await freePort());
    return NodeProcess.#hardhat(port, rules.hardfork === undefined ? {} : { HARDFORK: rules.hardfork });
  }

  /** A Hardhat node that continues the chain of another node under the rules of a hard fork. That one must go on to run. */
  static async continuing(base: Pick<NodeProcess, "url" | "provider">, hardfork: string): Promise<NodeProcess> {
    const block = Number(await base.provider.send("eth_blockNumber", []));
    await base.provider.send("hardhat_mine", [toQuantity(FINAL)]);
    // Hardhat files what it reads by host and port, where tomorrow another chain may be.
    const cache = await mkdtemp(join(tmpdir(), "moneta-fork-"));
    const fork = { FORK_URL: base.url, FORK_BLOCK: block.toString(), FORK_CACHE: cache };
    const node = await NodeProcess.#hardhat(await freePort(), { HARDFORK: hardfork, ...fork });
    node.#folder = cache;
    return node;
  }

  /** @param settings for hardhat.config.ts. */
  static async #hardhat(port: number, settings: Record<string, string>): Promise<NodeProcess> {
    const args = ["node_modules/hardhat/dist/src/cli.js", "node", "--hostname", "127.0.0.1", "--port", port.toString()];
    const env = { ...process.env, HARDHAT_DISABLE_TELEMETRY_PROMPT: "true", ...settings };
    const launch = () => started(new Program(args, { env }), /Started HTTP/);
    return new NodeProcess("hardhat", port, await launch(), launch, LOCAL_CHAIN, NaN);
  }

  /** @param options for its command line. */
  static async anvil(
    options: readonly string[],
    { chainId = LOCAL_CHAIN, miner = false, cache }: AnvilOptions = {},
    began = NaN,
  ): Promise<NodeProcess> {
    const port = await freePort();
    const own = cache === undefined ? await mkdtemp(join(tmpdir(), "moneta-anvil-")) : null;
    const place = ["--port", port.toString(), "--cache-path", cache ?? own ?? ""];
    const mining = miner ? ["--no-mining"] : [];
    const args = [...place, "--chain-id", chainId.toString(), ...mining, ...options];
    const launch = () => started(new Program(args, { command: requireAnvil() }), /Listening on/);
    const node = new NodeProcess("anvil", port, await launch(), launch, chainId, began);
    node.#folder = own;
    if (miner) node.#miner = await Miner.start(node.provider);
    return node;
  }

  /**
   * An Anvil for load: it keeps no state of old blocks, which is gigabytes after many transactions. Its blocks have 60 M gas.
   * It mines each transaction at once, until it gets another pace.
   */
  static underLoad(options: AnvilOptions = {}): Promise<NodeProcess> {
    return NodeProcess.anvil(["--enable-tx-gas-limit", "--gas-limit", "60000000"], options);
  }

  get pid(): number {
    return this.#program.pid;
  }

  async mine(): Promise<void> {
    await (this.#miner === null ? this.provider.send("evm_mine", []) : this.#miner.mine());
  }

  /** Replaces the newest blocks by as many empty ones (Anvil with a miner). */
  async reorg(depth: number): Promise<void> {
    await this.#mining().reorg(depth);
  }

  /** Stops the node and starts it on the same chain (Anvil with a folder). */
  async restart(downFor: () => Promise<void>): Promise<void> {
    const first = async () => (await this.provider.send("eth_getBlockByNumber", ["0x0", false])) as { hash: string };
    await this.#mining().restart(async () => {
      const before = await first();
      await this.#program.end("SIGTERM");
      await downFor();
      this.#program = await this.#launch();
      if ((await first()).hash !== before.hash) throw new Error("the node has another chain after the restart");
    });
  }

  /** From now on, Anvil makes blocks at fixed times. */
  async mineAt({ gas, seconds }: Pace): Promise<void> {
    await this.provider.send("evm_setBlockGasLimit", [`0x${gas.toString(16)}`]);
    await this.provider.send("evm_setIntervalMining", [seconds]);
    // The gas limit is that of the next block.
    await this.nextBlock();
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

  /** A test may stop the node before its fixture does. */
  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #stop(): Promise<void> {
    try {
      await this.#miner?.stop();
    } finally {
      this.provider.destroy();
      await this.#program.end("SIGKILL");
      if (this.#folder !== null) await rm(this.#folder, { recursive: true, force: true });
    }
  }

  #mining(): Miner {
    if (this.#miner !== null) return this.#miner;
    throw new Error("only an Anvil with a miner reorganizes its chain on demand and keeps it over a restart");
  }
}

/** @throws when Anvil is not installed. */
function requireAnvil(): string {
  const binary = anvilBinary();
  if (binary === null)
    throw new Error("Anvil is not installed: its package exists for Linux on x64 only. Use a Hardhat node.");
  return binary;
}

/** Waits until the node listens. Then it prints a line for each call, and only its errors matter. */
async function started(program: Program, ready: RegExp): Promise<Program> {
  try {
    await program.printed(ready);
  } catch (error) {
    await program.end("SIGKILL");
    throw error;
  }
  program.ignoreOutput();
  program.child.stderr?.on("data", (text: Buffer) => process.stderr.write(text));
  return program;
}
