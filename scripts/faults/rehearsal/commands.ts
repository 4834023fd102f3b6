import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";

import type { Program } from "../../scene/program.ts";
import { residentOf } from "../../scene/resident.ts";
import { until } from "../../scene/until.ts";
import type { Service } from "../service.ts";
import { require } from "./production.ts";

/** A moment at which a process is killed that is in the middle of its work. */
export interface Kill {
  whom: "service" | "command";
  /** Called when the process works. @returns what says that the moment has come. */
  begin: () => Promise<() => boolean | Promise<boolean>>;
  /** Whether the service was in the middle of its work: asked when it is killed. */
  wasWorking?: () => Promise<boolean>;
}

/** Milliseconds between two looks at the memory. */
const LOOK = 100;

/** Longer than the lease with which a process reads a contract, in milliseconds. */
const BEYOND_LEASE = 90_000;

/** Runs commands of the command line, kills them and the service meanwhile, and calls the same command again. */
export class Commands {
  readonly #service: Service;
  /** So many processes were killed. */
  kills = 0;
  /** The most memory that a command had since this was set, in MiB. */
  peak = 0;
  /** Seconds of the processors that the newest command has used. */
  cpu = 0;
  /** How far the clock of the service is ahead, in milliseconds. */
  #clock = 0;

  constructor(service: Service) {
    this.#service = service;
  }

  /** @param input on standard input. @returns what it prints with `--json`. @throws when it fails, or ends before it is killed. */
  async run<T>(words: readonly string[], kills: readonly Kill[] = [], input = ""): Promise<T> {
    let program = this.start(words, input);
    for (const { whom, begin, wasWorking } of kills) {
      await this.#moment(words, program, await begin());
      if (whom === "service") await this.killService(wasWorking);
      else {
        await this.killCommand(program);
        program = this.start(words, input);
      }
    }
    require((await program.gone()) === 0, `${words.join(" ")}: ${program.output}`);
    const [json = ""] = /^\{.*\}$/m.exec(program.output) ?? [];
    return JSON.parse(json) as T;
  }

  start(words: readonly string[], input = ""): Program {
    const program = this.#service.commandWith(input, ...words, "--json");
    void this.#watch(program);
    return program;
  }

  async killCommand(program: Program): Promise<void> {
    require((await program.end("SIGKILL")) === "SIGKILL", `a command ended by itself: ${program.output}`);
    this.kills += 1;
  }

  /** Kills the service, and starts it again. */
  async killService(wasWorking?: Kill["wasWorking"]): Promise<void> {
    await this.#service.kill();
    require((await wasWorking?.()) !== false, "the service had done its work when it was killed");
    await this.#service.start();
    // Otherwise the next one waits for the end of the lease.
    if (wasWorking !== undefined) this.#clock += BEYOND_LEASE;
    await this.#service.only.control({ clockOffset: this.#clock });
    this.kills += 1;
  }

  #moment(words: readonly string[], program: Program, hasCome: () => boolean | Promise<boolean>): Promise<void> {
    const look = async () => {
      require(!program.exited, `${words.join(" ")} ended before it was killed: ${program.output}`);
      return hasCome();
    };
    return until(`a moment of ${words.join(" ")}`, look, { every: 1 });
  }

  async #watch(program: Program): Promise<void> {
    while (!program.exited) {
      // It may end meanwhile.
      const resident = await residentOf(program.pid).catch(() => null);
      this.peak = Math.max(this.peak, resident?.peak ?? 0);
      this.cpu = (await secondsOf(program.pid).catch(() => null)) ?? this.cpu;
      await wait(LOOK);
    }
  }
}

/** A moment: the count has grown by so many since the process works. */
export function grownBy(most: number, count: () => number | Promise<number>): Kill["begin"] {
  return async () => {
    const before = await count();
    return async () => (await count()) - before >= most;
  };
}

/** A moment: there are so many. */
export function atLeast(most: number, count: () => number | Promise<number>): Kill["begin"] {
  return () => Promise.resolve(async () => (await count()) >= most);
}

/** Clock ticks of a second, in which Linux counts. */
const TICKS = 100;

/** Seconds of the processors that a process has used; null on other systems than Linux. */
export async function secondsOf(pid: number): Promise<number | null> {
  if (process.platform !== "linux") return null;
  const text = await readFile(`/proc/${pid.toString()}/stat`, "utf8");
  const [user = 0, system = 0] = text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13)
    .map(Number);
  return (user + system) / TICKS;
}
