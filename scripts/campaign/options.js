import { parseArgs } from "node:util";
const HARDFORKS = ["prague", "osaka", "amsterdam"];
const ENGINES = ["sqlite", "postgres"];
const CHAINS = ["anvil", "hardhat"];
const MOST_NODES = 3;
export const HELP = `Usage: npm run campaign -- [options]

Runs the service under load, injects faults, and counts requests that are lost, duplicated or stuck.

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
  --json FILE     also write the result to this file
  --verbose       print a line for each round
  --soak MINUTES  a steady load without faults, to find leaks
  --help          print this text`;
/** @returns null when the user asked for help. @throws Error naming the option that is wrong. */
export function parseOptions(args) {
    const { values } = parseArgs({
        args,
        options: {
            engine: { type: "string", default: "sqlite" },
            seed: { type: "string", default: "1" },
            faults: { type: "string", default: "60" },
            requests: { type: "string" },
            hardfork: { type: "string" },
            json: { type: "string" },
            minutes: { type: "string" },
            nodes: { type: "string", default: "1" },
            only: { type: "string", multiple: true },
            chain: { type: "string" },
            soak: { type: "string" },
            verbose: { type: "boolean", default: false },
            help: { type: "boolean", default: false },
        },
    });
    if (values.help)
        return null;
    const faults = integer("faults", values.faults, 1);
    const requests = values.requests === undefined ? faults * 40 : integer("requests", values.requests, 1);
    const engine = oneOf("engine", values.engine, ENGINES);
    if (values.soak !== undefined && engine !== "sqlite")
        throw new Error("--soak runs on SQLite only: omit --engine");
    const nodes = integer("nodes", values.nodes, 1);
    if (nodes > MOST_NODES)
        throw new Error(`--nodes must be at most ${MOST_NODES.toString()}`);
    return {
        engine,
        seed: integer("seed", values.seed, 0),
        faults,
        requestsPerFault: Math.ceil(requests / faults),
        only: values.only ?? null,
        chain: values.chain === undefined ? null : oneOf("chain", values.chain, CHAINS),
        hardfork: values.hardfork === undefined ? null : oneOf("hardfork", values.hardfork, HARDFORKS),
        nodes,
        json: values.json ?? null,
        soak: values.soak === undefined ? null : integer("soak", values.soak, 1),
        minutes: values.minutes === undefined ? null : integer("minutes", values.minutes, 1),
        verbose: values.verbose,
    };
}
function integer(option, text, min) {
    const value = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < min)
        throw new Error(`--${option} must be an integer of at least ${min.toString()}, not "${text}"`);
    return value;
}
function oneOf(option, text, names) {
    const found = names.find((name) => name === text);
    if (found === undefined)
        throw new Error(`--${option} must be one of ${names.join(", ")}, not "${text}"`);
    return found;
}
