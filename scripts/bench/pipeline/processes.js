import { sqliteFiles } from "../harness/databases.ts";
import { mintAll, profileAll, WARM_UP } from "../harness/measure.ts";
import { World } from "../harness/world.ts";
/** How the roles are spread in each row, beside that of the row before. */
const SHAPES = {
    sqlite: { engine: "sqlite", roles: ["api,relayer,indexer,webhooks,media"] },
    one: { engine: "postgres", roles: ["api,relayer,indexer,webhooks,media"] },
    two: { engine: "postgres", roles: ["api", "relayer,indexer,webhooks,media"] },
    four: { engine: "postgres", roles: ["api", "api", "relayer", "indexer,webhooks,media"] },
};
const ALL = ["sqlite", "one", "two", "four"];
/** What the quick form has time for. */
const FEW = ["sqlite", "one"];
/** The goal for PostgreSQL in one process, beside SQLite. */
const BESIDE_SQLITE = 0.6;
/**
 * Mints settled on PostgreSQL, in one process and in several. Only with `--engine postgres`. The machine is the same for
 * all, so more processes cannot be faster where it has few cores. They must not be slower.
 */
export const processes = { name: "processes", measure: run };
async function run({ quick, profiles, databases }) {
    if (databases.engine !== "postgres")
        return [];
    const size = { shapes: quick ? FEW : ALL, mints: quick ? 1_000 : 4_000, turns: quick ? 1 : 3 };
    const seconds = { sqlite: 0, one: 0, two: 0, four: 0 };
    const usage = {};
    // In turns, so that a slow moment of the machine affects all.
    for (let turn = 0; turn < size.turns; turn++) {
        for (const shape of size.shapes) {
            const measured = await settle(shape, size.mints, databases, turn === 0 ? profiles : null);
            seconds[shape] += size.mints / measured.rate;
            usage[shape] = measured.usage;
        }
    }
    const rate = (shape) => (size.mints * size.turns) / seconds[shape];
    const row = (what, shape, baseline, atLeast) => ({
        what: `mints settled on PostgreSQL, ${what}`,
        unit: "/s",
        measured: rate(shape),
        baseline: { what: baseline.what, measured: rate(baseline.shape) },
        goal: { atLeast },
        ...(usage[shape] === undefined ? {} : { usage: usage[shape] }),
    });
    const one = { what: "one process on PostgreSQL", shape: "one" };
    const several = [
        row("2 processes: api; the rest", "two", one, 1),
        row("4 processes: api; api; relayer; the rest", "four", one, 1),
    ];
    return [
        row("one process", "one", { what: "one process on SQLite", shape: "sqlite" }, BESIDE_SQLITE),
        ...(quick ? [] : several),
    ];
}
async function settle(shape, mints, postgres, profiles) {
    const { engine, roles } = SHAPES[shape];
    const world = await World.start({ databases: engine === "sqlite" ? sqliteFiles : postgres, roles });
    try {
        const [to, collection] = [await world.wallet(), await world.collection()];
        await mintAll(world, collection, to, WARM_UP, 0);
        const measured = await mintAll(world, collection, to, mints, WARM_UP);
        await profileAll(world, profiles, `settled-${shape}`, () => mintAll(world, collection, to, mints, WARM_UP + mints));
        return measured;
    }
    finally {
        await world.stop();
    }
}
