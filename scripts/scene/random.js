import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { mersenne } from "pure-rand/generator/mersenne";
/** A seeded generator: the same seed gives the same numbers, so a campaign can be repeated. */
export class Random {
    // The Mersenne Twister mixes its seed: seed and seed + 1, which one campaign uses, give unrelated numbers.
    #generator;
    constructor(seed) {
        this.#generator = mersenne(seed);
    }
    /** From 0 (included) to 1 (excluded). */
    next() {
        return uniformFloat64(this.#generator);
    }
    /** An integer from `min` to `max`, both included. */
    integer(min, max) {
        return uniformInt(this.#generator, min, max);
    }
    pick(items) {
        if (items.length === 0)
            throw new Error("cannot pick from an empty list");
        return items[this.integer(0, items.length - 1)];
    }
    shuffle(items) {
        const shuffled = [];
        for (const item of items)
            shuffled.splice(this.integer(0, shuffled.length), 0, item);
        return shuffled;
    }
    chance(probability) {
        return this.next() < probability;
    }
}
