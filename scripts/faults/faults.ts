import type { NodeKind } from "../scene/node.ts";
import { CALLER_FAULTS } from "./faults-of-callers.ts";
import { CHAIN_FAULTS } from "./faults-of-chain.ts";
import { NODE_FAULTS } from "./faults-of-nodes.ts";
import { POSTGRES_FAULTS, PROCESS_FAULTS, SQLITE_FAULTS } from "./faults-of-processes.ts";
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
  const ofEngine = engine === "sqlite" ? SQLITE_FAULTS : POSTGRES_FAULTS;
  return [...PROCESS_FAULTS, ...ofEngine, ...CHAIN_FAULTS, ...CALLER_FAULTS, ...(nodes > 1 ? NODE_FAULTS : [])];
}
