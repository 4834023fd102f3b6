export function isClean(result) {
    return result.lost + result.duplicated + result.wrong + result.stuck + result.other.length === 0;
}
/** `injected`: how often the fault took effect. */
const COLUMNS = [
    "runs",
    "injected",
    "requests",
    "completed",
    "failed",
    "lost",
    "duplicated",
    "wrong",
    "stuck",
    "other",
];
/** Of no round. */
const NONE = Object.fromEntries(COLUMNS.map((column) => [column, 0]));
/** @param counts those that are not 0. */
export function lineOf(fault, counts = {}) {
    return { ...NONE, ...counts, fault, seconds: null };
}
export function addTo(sums, counts) {
    for (const column of COLUMNS)
        sums[column] += counts[column];
}
export function summarise(lines) {
    const total = { ...NONE };
    for (const line of lines)
        addTo(total, line);
    return total;
}
export function table(lines) {
    const head = ["fault", ...COLUMNS, "seconds"];
    const rows = lines.map((line) => [
        line.fault,
        ...COLUMNS.map((column) => line[column].toString()),
        line.seconds?.toFixed(1) ?? "-",
    ]);
    const all = [head, ...rows];
    const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
    return all
        .map((row) => row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join("  "))
        .join("\n");
}
