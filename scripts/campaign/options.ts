import { parseArgs } from "node:util";

const HARDFORKS = ["prague", "osaka", "amsterdam"] as const;
export type Hardfork = (typeof HARDFORKS)[number];

export interface Options {
  seed: number;
  faults: number;
  requestsPerFault: number;
  /** Only faults whose name contains this text. */
  only: string | null;
  /** The rules of the chain; null: those of the nodes' newest stable hard fork. */
  hardfork: Hardfork | null;
  /** File for the result as JSON. */
  json: string | null;
  /** Minutes of a steady load instead of faults. */
  soak: number | null;
  verbose: boolean;
}

export const HELP = `Usage: npm run campaign -- [options]

Runs the service under load, injects faults, and counts requests that are lost, duplicated or stuck.

  --faults N      how many faults (default 60)
  --requests N    how many requests in all (default: 40 per fault)
  --seed N        the same seed gives the same order of faults (default 1)
  --only TEXT     only faults whose name contains this text
  --hardfork NAME prague, osaka or amsterdam: the rules of the chain. In Amsterdam, the
                  contracts come from an Osaka chain that Hardhat's node continues
  --json FILE     also write the result to this file
  --verbose       print a line for each round
  --soak MINUTES  a steady load without faults, to find leaks
  --help          print this text`;

/** @returns null when the user asked for help. @throws Error naming the option that is wrong. */
export function parseOptions(args: string[]): Options | null {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: "string", default: "1" },
      faults: { type: "string", default: "60" },
      requests: { type: "string" },
      hardfork: { type: "string" },
      json: { type: "string" },
      only: { type: "string" },
      soak: { type: "string" },
      verbose: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return null;
  const faults = integer("faults", values.faults, 1);
  const requests = values.requests === undefined ? faults * 40 : integer("requests", values.requests, 1);
  return {
    seed: integer("seed", values.seed, 0),
    faults,
    requestsPerFault: Math.ceil(requests / faults),
    only: values.only ?? null,
    hardfork: values.hardfork === undefined ? null : hardforkOf(values.hardfork),
    json: values.json ?? null,
    soak: values.soak === undefined ? null : integer("soak", values.soak, 1),
    verbose: values.verbose,
  };
}

function integer(option: string, text: string, min: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < min)
    throw new Error(`--${option} must be an integer of at least ${min.toString()}, not "${text}"`);
  return value;
}

function hardforkOf(text: string): Hardfork {
  const found = HARDFORKS.find((name) => name === text);
  if (found === undefined) throw new Error(`--hardfork must be one of ${HARDFORKS.join(", ")}, not "${text}"`);
  return found;
}
