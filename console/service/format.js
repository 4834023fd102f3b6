/* Values as people read them. The exact value belongs into a `title`. */
const [GWEI_PLACES, ETHER_PLACES] = [9, 18];
/** Digits that are shown of an amount. */
const DIGITS = 4;
const WEI_PER_ETHER = 10n ** 18n;
/** `0x1234…abcd` */
export function shortHex(value) {
    return value.length <= 14 ? value : `${value.slice(0, 6)}…${value.slice(-4)}`;
}
/** A date and time in the language of the browser. */
export function dateTime(time) {
    return new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}
/** How long ago: `12 s ago`, `5 min ago`. */
export function age(time, now = Date.now()) {
    return `${duration(Math.max(0, now - Date.parse(time)) / 1000)} ago`;
}
/** Seconds in their largest unit. */
export function duration(seconds) {
    if (seconds < 60)
        return `${Math.floor(seconds).toString()} s`;
    if (seconds < 3_600)
        return `${Math.floor(seconds / 60).toString()} min`;
    if (seconds < 86_400)
        return `${Math.floor(seconds / 3_600).toString()} h`;
    return `${Math.floor(seconds / 86_400).toString()} d`;
}
/** Wei in ether, with four digits that say something, or in gwei when that is easier to read. */
export function ether(wei) {
    const value = BigInt(wei);
    if (value === 0n)
        return "0 ETH";
    const small = value < WEI_PER_ETHER / 10000000n;
    return small ? `${decimal(value, GWEI_PLACES)} gwei` : `${decimal(value, ETHER_PLACES)} ETH`;
}
/** The value divided by 10^places, rounded to four digits. Digits before the point are never rounded. */
function decimal(value, places) {
    const spare = value.toString().length - DIGITS;
    const step = 10n ** BigInt(Math.max(0, Math.min(spare, places)));
    const digits = (((value + step / 2n) / step) * step).toString().padStart(places + 1, "0");
    const fraction = digits.slice(-places).replace(/0+$/, "");
    return `${digits.slice(0, -places)}${fraction === "" ? "" : `.${fraction}`}`;
}
