import { Argument, Command, InvalidArgumentError, Option } from "commander";

const HARDFORKS = ["prague", "osaka", "amsterdam"] as const;
export type Hardfork = (typeof HARDFORKS)[number];
const ENGINES = ["sqlite", "postgres"] as const;
export type Engine = (typeof ENGINES)[number];

const TEXT = `Runs the service under load, injects faults, and counts requests that are lost, duplicated or stuck.
attacks: attacks a service, each time a new one, and prints what happened to the attacker, to another app and to the memory.
drill: backs up under load, loses the disk, restores and compares.`;

export interface Options {
  what: "faults" | "attacks" | "drill";
  /** `sqlite`: one process. `postgres`: two processes for most roles. */
  engine: Engine;
  seed: number;
  faults: number;
  requestsPerFault: number;
  /** Only faults, or attacks, whose name contains one of these texts. */
  only: readonly string[];
  /** The rules of the chain. Absent: those of the nodes' newest stable hard fork. */
  hardfork?: Hardfork;
  /** How many nodes the service has. */
  nodes: number;
  /** After so many minutes no further fault begins. */
  minutes: number;
}

/** Ends the process after `--help`. @throws CommanderError naming the option that is wrong. */
export function parseOptions(args: string[]): Options {
  const program = new Command("npm run campaign --")
    .description(TEXT)
    .exitOverride()
    .addArgument(new Argument("[what]").choices(["faults", "attacks", "drill"]).default("faults"))
    .option("--faults <n>", "how many faults: two thirds on Anvil, the others on Hardhat's node", integer(1), 60)
    .option("--requests <n>", "how many requests in all (default: 40 per fault)", integer(1))
    .option("--seed <n>", "the same seed gives the same order of faults", integer(0), 1)
    .addOption(
      new Option("--engine <name>", "sqlite: one process; postgres: eleven, two for most roles")
        .choices(ENGINES)
        .default("sqlite"),
    )
    .option("--minutes <n>", "begin no further fault after so many minutes", integer(1), Infinity)
    .option("--only <text...>", "only faults whose name contains this text, or one of several", [""])
    .option(
      "--nodes <n>",
      "how many nodes the service has, 1 to 3; with several, also faults of nodes",
      integer(1, 3),
      1,
    )
    .addOption(new Option("--hardfork <name>", "the rules of the chain").choices(HARDFORKS))
    .parse(args, { from: "user" });
  const { requests, ...options } = program.opts<Omit<Options, "what" | "requestsPerFault"> & { requests?: number }>();
  const [what] = program.processedArgs as [Options["what"]];
  return { ...options, what, requestsPerFault: Math.ceil((requests ?? options.faults * 40) / options.faults) };
}

function integer(least: number, most = Infinity): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(
      `It must be an integer of at least ${least.toString()}, and at most ${most.toString()}.`,
    );
  };
}
