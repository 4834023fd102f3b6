import type { NodeKind } from "../scene/node.ts";
import { CALLER_FAULTS } from "./faults-of-callers.ts";
import { CHAIN_FAULTS } from "./faults-of-chain.ts";
import { NODE_FAULTS } from "./faults-of-nodes.ts";
import { POSTGRES_FAULTS } from "./faults-on-postgres.ts";
import { SQLITE_FAULTS } from "./faults-on-sqlite.ts";
import type { Engine } from "./options.ts";
import type { World } from "./world.ts";

/** Something that goes wrong while requests are in progress. */
export interface Fault {
  name: string;
  /** The only node that can produce it. Absent: both can. */
  only?: NodeKind;
  /** Whether the service may answer calls with `internal_error` meanwhile. */
  mayFailCalls?: true;
  /**
   * Injects the fault and ends it before the promise resolves. `load` resolves when the round's calls are accepted.
   * @returns how often it took effect. A fault that never takes effect tests nothing.
   */
  inject(world: World, load: Promise<unknown>): Promise<number>;
}

/** @param nodes how many nodes the service has. */
export function faultsOf(engine: Engine, nodes: number): readonly Fault[] {
  return nodes > 1 ? [...FAULTS[engine], ...NODE_FAULTS] : FAULTS[engine];
}

export const FAULTS: Readonly<Record<Engine, readonly Fault[]>> = {
  sqlite: [...SQLITE_FAULTS, ...CHAIN_FAULTS, ...CALLER_FAULTS],
  postgres: [...POSTGRES_FAULTS, ...CHAIN_FAULTS, ...CALLER_FAULTS],
};
