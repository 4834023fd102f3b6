import { table } from "../../../api/cli/terminal.ts";
/** @returns NaN for an empty list. */
export function median(values) {
    return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;
}
/** null: not measured. */
export function ratioOf({ measured, baseline }) {
    return baseline == null || measured === null ? measured : measured / baseline.measured;
}
/** null: there is no goal. What was not measured does not meet it. */
export function meetsGoal(row) {
    if (row.goal == null)
        return null;
    const ratio = ratioOf(row);
    if (ratio === null)
        return false;
    return "atLeast" in row.goal ? ratio >= row.goal.atLeast : ratio <= row.goal.atMost;
}
/** Whether a required limit is exceeded. What was not measured is not. */
export function isWrong(row) {
    return row.required === true && row.measured !== null && meetsGoal(row) === false;
}
function figure(value) {
    if (value === null)
        return "";
    if (value >= 100)
        return Math.round(value).toString();
    return value.toPrecision(3);
}
/** The notes of the rows, as lines of text. */
export function notesOf(rows) {
    return rows.flatMap(({ what, note }) => (note === undefined ? [] : [`${what}: ${note}`]));
}
/** The ratio is the first column, because it depends least on the machine. */
export function tableOf(rows) {
    const cells = rows.map((row) => {
        const met = meetsGoal(row);
        const goal = row.goal == null ? "" : "atLeast" in row.goal ? `>= ${row.goal.atLeast}` : `<= ${row.goal.atMost}`;
        return [
            row.baseline == null ? "" : figure(ratioOf(row)),
            goal,
            met === null ? "" : met ? "yes" : "no",
            row.what,
            row.measured === null ? "not measured" : `${figure(row.measured)} ${row.unit}`,
            row.baseline == null ? "" : `${figure(row.baseline.measured)} ${row.unit}: ${row.baseline.what}`,
        ];
    });
    const head = ["ratio", "goal", "met", "what", "measured", "baseline of the same run"];
    return table(head, cells, head.join("  "));
}
