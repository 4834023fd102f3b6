import { CALLER_FAULTS } from "./faults-of-callers.ts";
import { CHAIN_FAULTS } from "./faults-of-chain.ts";
import { NODE_FAULTS } from "./faults-of-nodes.ts";
import { POSTGRES_FAULTS } from "./faults-on-postgres.ts";
import { SQLITE_FAULTS } from "./faults-on-sqlite.ts";
/** @param nodes how many nodes the service has. */
export function faultsOf(engine, nodes) {
    return nodes > 1 ? [...FAULTS[engine], ...NODE_FAULTS] : FAULTS[engine];
}
export const FAULTS = {
    sqlite: [...SQLITE_FAULTS, ...CHAIN_FAULTS, ...CALLER_FAULTS],
    postgres: [...POSTGRES_FAULTS, ...CHAIN_FAULTS, ...CALLER_FAULTS],
};
