import { chainLimits } from "./chain/chain.ts";
import { oneDay } from "./day/day.ts";
import { nodes } from "./day/nodes.ts";
import { indexing } from "./indexing/indexing.ts";
import { copying } from "./media/copying.ts";
import { uploading } from "./media/uploading.ts";
import { memory } from "./memory/memory.ts";
import { peers } from "./peers/peers.ts";
import { accepting } from "./pipeline/accepting.ts";
import { alone } from "./pipeline/alone.ts";
import { batches } from "./pipeline/batches.ts";
import { processes } from "./pipeline/processes.ts";
import { clone } from "./start/clone.ts";
import { starting } from "./start/starting.ts";
import { settling } from "./pipeline/settling.ts";
import { wallets } from "./wallets/wallets.ts";
import { delivering } from "./webhooks/delivering.ts";
import { reading } from "./reading/reading.ts";
/** The parts of the benchmark, by topic, in the order in which they run. */
const TOPICS = {
    pipeline: [alone, settling, batches, accepting, processes],
    webhooks: [delivering],
    memory: [memory],
    chain: [chainLimits],
    indexing: [indexing],
    wallets: [wallets],
    media: [copying, uploading],
    start: [starting, clone],
    reading: [reading],
    peers: [peers],
    day: [oneDay, nodes],
};
/** @returns the parts that a name stands for: a topic, or one part. @throws Error that lists the names. */
export function partsNamed(name) {
    const parts = TOPICS[name] ?? allParts().filter((part) => part.name === name);
    if (parts.length > 0)
        return parts;
    const names = Object.entries(TOPICS).map(([topic, of]) => `${topic} (${of.map((part) => part.name).join(", ")})`);
    throw new Error(`There is no part "${name}". The parts are ${names.join("; ")}.`);
}
export function allParts() {
    return Object.values(TOPICS).flat();
}
