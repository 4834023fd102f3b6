import { parseArgs } from "node:util";

import type { NodeKind } from "../scene/node.ts";
import { ROOT } from "../scene/program.ts";

const HARDFORKS = ["prague", "osaka", "amsterdam"] as const;
export type Hardfork = (typeof HARDFORKS)[number];
const ENGINES = ["sqlite", "postgres"] as const;
export type Engine = (typeof ENGINES)[number];
const CHAINS = ["anvil", "hardhat"] as const;
const WHAT = ["faults", "attacks", "drill"] as const;

export interface Options {
  what: (typeof WHAT)[number];
  /** `sqlite`: one process. `postgres`: two processes for most roles. */
  engine: Engine;
  seed: number;
  faults: number;
  requestsPerFault: number;
  /** Only faults, or attacks, whose name contains one of these texts. */
  only: readonly string[];
  /** The only program that is the chain; null: both. */
  chain: NodeKind | null;
  /** The rules of the chain; null: those of the nodes' newest stable hard fork. */
  hardfork: Hardfork | null;
  /** How many nodes the service has. */
  nodes: number;
  /** After so many minutes no further fault begins. */
  minutes: number;
  /** Folder of the version that is attacked. */
  checkout: string;
}

export const HELP = `Usage: npm run campaign -- [options]
       npm run campaign -- attacks [--engine NAME] [--only TEXT] [--checkout DIR]
       npm run campaign -- drill [--engine NAME]

Runs the service under load, injects faults, and counts requests that are lost, duplicated or stuck.
attacks: attacks a service, each time a new one, and prints what happened to the attacker, to
another app and to the memory. drill: backs up under load, loses the disk, restores and compares.

  --faults N      how many faults (default 60)
  --requests N    how many requests in all (default: 40 per fault)
  --seed N        the same seed gives the same order of faults (default 1)
  --engine NAME   sqlite (default): the service as one process. postgres: eleven processes, two
                  for most roles, on a PostgreSQL server that the campaign starts
  --minutes N     begin no further fault after N minutes, without the start of processes (default: no limit)
  --only TEXT     only faults whose name contains this text, or one of several: --only A --only B
  --chain NAME    anvil or hardhat: the only program that is the chain (default: two thirds of the
                  faults on Anvil, the others on Hardhat's node)
  --nodes N       how many nodes the service has, 1 to 3 (default 1). With several, also faults of nodes
  --hardfork NAME prague, osaka or amsterdam: the rules of the chain. In Amsterdam, the
                  contracts come from an Osaka chain that Hardhat's node continues
  --checkout DIR  attack the service of another version, whose packages are installed
  --help          print this text`;

/** @returns null when the user asked for help. @throws Error naming the option that is wrong. */
export function parseOptions(args: string[]): Options | null {
  const text = { type: "string" } as const;
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      ...{ engine: text, seed: text, faults: text, requests: text, hardfork: text, minutes: text, nodes: text },
      ...{ chain: text, checkout: text },
      only: { type: "string", multiple: true },
      help: { type: "boolean" },
    },
  });
  if (values.help === true) return null;
  const faults = integer("faults", values.faults, 1) ?? 60;
  const requests = integer("requests", values.requests, 1) ?? faults * 40;
  return {
    what: oneOf("what to run", positionals[0], WHAT) ?? "faults",
    engine: oneOf("--engine", values.engine, ENGINES) ?? "sqlite",
    seed: integer("seed", values.seed, 0) ?? 1,
    faults,
    requestsPerFault: Math.ceil(requests / faults),
    only: values.only ?? [""],
    chain: oneOf("--chain", values.chain, CHAINS),
    hardfork: oneOf("--hardfork", values.hardfork, HARDFORKS),
    nodes: integer("nodes", values.nodes, 1, 3) ?? 1,
    minutes: integer("minutes", values.minutes, 1) ?? Infinity,
    checkout: values.checkout ?? ROOT,
  };
}

function integer(option: string, text: string | undefined, least: number, most = Infinity): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least || value > most) {
    const highest = most === Infinity ? "" : ` and at most ${most.toString()}`;
    throw new Error(`--${option} must be an integer of at least ${least.toString()}${highest}, not "${text}"`);
  }
  return value;
}

function oneOf<T extends string>(option: string, text: string | undefined, names: readonly T[]): T | null {
  if (text === undefined) return null;
  const found = names.find((name) => name === text);
  if (found === undefined) throw new Error(`${option} must be one of ${names.join(", ")}, not "${text}"`);
  return found;
}
