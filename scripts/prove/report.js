/** What a proof showed, for the reader. A theorem without a single claim was not looked at, so it is not proved. */
export function report(theorems, outcomes) {
    const lines = [];
    let isProved = true;
    for (const theorem of theorems) {
        const claims = outcomes.reduce((sum, { proved }) => sum + (proved.get(theorem) ?? 0), 0);
        const failures = outcomes.flatMap((outcome) => outcome.failures.filter((failure) => failure.theorem === theorem));
        if (failures.length === 0 && claims > 0)
            lines.push(`proved: ${theorem}. (${claims} places of paths)`);
        else
            isProved = false;
        for (const { path, isUndecided } of failures) {
            lines.push(`${isUndecided ? "undecided" : "NOT TRUE"}: ${theorem}. Path: ${path}`);
        }
        if (failures.length === 0 && claims === 0)
            lines.push(`undecided: ${theorem}. No path has anything about it.`);
    }
    const paths = outcomes.reduce((sum, outcome) => sum + outcome.paths, 0);
    const loops = outcomes.reduce((sum, outcome) => sum + outcome.loops, 0);
    lines.push(`${paths} paths, ${loops} loops.`);
    return { lines, isProved };
}
