/*
 * Calldata, written by hand: a general encoder would take longer than the node needs to run the calls.
 */
/** A call of a function whose arguments are addresses and numbers. */
export function callOf(selector, ...values) {
    return selector + values.map(word).join("");
}
/** `Relay.execute` of calls with consecutive request numbers. */
export function executeOf(selector, calls, first, gasLimit) {
    const items = calls.map(({ target, data }, index) => {
        const bytes = data.slice(2);
        const padded = bytes.padEnd(Math.ceil(bytes.length / 64) * 64, "0");
        return [first + index, target, gasLimit, 4 * 32, bytes.length / 2].map(word).join("") + padded;
    });
    let offset = items.length * 32;
    const offsets = items.map((item) => {
        const own = offset;
        offset += item.length / 2;
        return word(own);
    });
    return selector + word(32) + word(items.length) + offsets.join("") + items.join("");
}
function word(value) {
    const digits = typeof value === "string" ? value.slice(2).toLowerCase() : value.toString(16);
    return digits.padStart(64, "0");
}
