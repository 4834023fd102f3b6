import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { Interface, type InterfaceAbi } from "ethers";

import { Explorer } from "./explore.ts";
import { type Code, NotSupported, type Rules, type State } from "./machine.ts";
import { fresh, isConst, sub, type Term, variable } from "./terms.ts";

const FACTORIES = new URL("../../contracts/generated/factories/", import.meta.url);

/** What the project deploys of a contract. */
export interface Contract {
  /** The bytecode of the deployment, in hexadecimal. */
  creation: string;
  abi: InterfaceAbi;
}

/** Reads a committed contract. */
export async function committed(name: string): Promise<Contract> {
  const file = new URL(`${name}__factory.ts`, FACTORIES);
  const module: unknown = await import(file.href);
  const factory: unknown = typeof module === "object" && module !== null ? Object.values(module)[0] : undefined;
  if (typeof factory !== "function" || !("bytecode" in factory) || !("abi" in factory)) {
    throw new Error(`${fileURLToPath(file)} has no bytecode. Run npm run contracts:update.`);
  }
  const creation = String(factory.bytecode);
  if (!(await readFile(file, "utf8")).includes(`"${creation}"`)) throw new Error(`${name}: another bytecode was read`);
  return { creation, abi: factory.abi as InterfaceAbi };
}

export function creationOf({ creation }: Contract): Code {
  return { bytes: Buffer.from(creation.slice(2), "hex"), immutables: new Map(), isCreation: true };
}

/** Runs the deployment to find the code that it leaves on the chain, and where this code has immutable values. */
export function runtimeOf(contract: Contract): Code {
  const creation = creationOf(contract);
  const found = new Map<string, Code>();
  const rules: Rules = {
    read: () => undefined,
    write: () => undefined,
    readTransient: () => fresh("transient"),
    writeTransient: () => undefined,
    call: () => undefined,
    log: () => undefined,
    end: (state, { start, size }) => {
      const code = codeIn(creation.bytes, state, start, size);
      found.set([Buffer.from(code.bytes).toString("hex"), ...code.immutables.keys()].join(" "), code);
    },
  };
  new Explorer(creation, [], new Map(), { joins: true }).follow(rules, { ghosts: {}, storage: new Map() });
  const [code] = found.values();
  if (code === undefined || found.size !== 1)
    throw new NotSupported("the deployment leaves no code, or different ones");
  return code;
}

function codeIn(creation: Uint8Array, { memory }: State, start: Term, size: Term): Code {
  const values = new Map<number, Term>();
  const names = new Map<Term, Term>();
  for (let write = memory; write !== undefined; write = write.before) {
    const offset = sub(write.address, start);
    if (!isConst(offset)) break;
    if (write.codeFrom !== undefined) {
      if (offset.value !== 0n || !isConst(write.codeFrom) || !isConst(size) || write.size !== size) break;
      const from = Number(write.codeFrom.value);
      return { bytes: creation.subarray(from, from + Number(size.value)), immutables: values, isCreation: false };
    }
    if (write.value === undefined) break;
    const name = names.get(write.value) ?? variable(`immutable${names.size}`);
    names.set(write.value, name);
    if (!values.has(Number(offset.value))) values.set(Number(offset.value), name);
  }
  throw new NotSupported("the deployment does not return a copy of its code");
}

/** The functions of a contract by selector. */
export function functionsOf({ abi }: Contract): Map<bigint, string> {
  const names = new Map<bigint, string>();
  Interface.from(abi).forEachFunction(({ selector, name }) => names.set(BigInt(selector), name));
  return names;
}

export function topicOf({ abi }: Contract, event: string): bigint {
  const fragment = Interface.from(abi).getEvent(event);
  if (fragment === null) throw new Error(`The contract has no event ${event}.`);
  return BigInt(fragment.topicHash);
}
