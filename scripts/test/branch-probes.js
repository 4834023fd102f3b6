/**
 * Wraps every condition of a Solidity source (of `if`, `while`, `for` and `? :`) in a call of a probe. A probe is a
 * generated function with one statement for each outcome, so its statement coverage is the branch coverage of the source.
 */
export function wrapConditions(file, source, found) {
    const code = blankComments(source);
    // A `for` may have no condition.
    const spans = [...keywordConditions(code), ...ternaryConditions(code)].filter(({ start, end }) => end > start);
    spans.sort((a, b) => b.start - a.start);
    let wrapped = source;
    for (const { start, end } of spans) {
        const text = source.slice(start, end);
        const line = source.slice(0, start).split("\n").length;
        wrapped = `${wrapped.slice(0, start)}BranchProbes.probe${found.length}(${text})${wrapped.slice(end)}`;
        found.push({ file, line, text: text.replaceAll(/\s+/gu, " ") });
    }
    return wrapped;
}
/** Generates the library of probes, one for each condition. {@link linesOfProbe} gives the lines of their statements. */
export function renderProbes(count) {
    const probes = Array.from({ length: count }, (_, index) => [
        `    function probe${index}(bool condition) internal pure returns (bool) {`,
        "        if (condition) {",
        "            return true;",
        "        }",
        "        return false;",
        "    }",
    ].join("\n"));
    return [
        "// SPDX-License-Identifier: MIT",
        "pragma solidity 0.8.37;",
        "library BranchProbes {",
        ...probes,
        "}",
        "",
    ].join("\n");
}
/** The lines of the library that run when a condition is true and when it is false. */
export function linesOfProbe(index) {
    return { whenTrue: 6 * index + 6, whenFalse: 6 * index + 8 };
}
/** Replaces comments, strings and assembly blocks by spaces, so that all positions stay the same. */
function blankComments(source) {
    const pattern = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"/gu;
    let code = source.replace(pattern, (match) => match.replaceAll(/[^\n]/gu, " "));
    for (;;) {
        const block = /\bassembly\b[^{]*\{/u.exec(code);
        if (block === null)
            return code;
        const end = matching(code, block.index + block[0].length - 1);
        code =
            code.slice(0, block.index) + code.slice(block.index, end + 1).replaceAll(/[^\n]/gu, " ") + code.slice(end + 1);
    }
}
function keywordConditions(code) {
    return [...code.matchAll(/\b(?<keyword>if|while|for)\s*\(/gu)].map((match) => {
        const open = match.index + match[0].length - 1;
        const close = matching(code, open);
        if (match.groups?.["keyword"] !== "for")
            return { start: open + 1, end: close };
        const first = code.indexOf(";", open) + 1;
        return trim(code, first, code.indexOf(";", first));
    });
}
/** The expression before each question mark. */
function ternaryConditions(code) {
    return [...code.matchAll(/\?/gu)].map((match) => {
        let start = match.index;
        for (let depth = 0; start > 0; start--) {
            const before = code.charAt(start - 1);
            if (before === ")" || before === "]")
                depth++;
            else if (before === "(" || before === "[")
                depth--;
            if (depth < 0)
                break;
            const assigns = before === "=" && !/[=!<>]/u.test(code.charAt(start - 2)) && code[start] !== "=";
            if (depth === 0 && (assigns || /[;{},]/u.test(before)))
                break;
        }
        const returned = /^\s*return\b/u.exec(code.slice(start, match.index));
        return trim(code, start + (returned?.[0].length ?? 0), match.index);
    });
}
function trim(code, start, end) {
    const text = code.slice(start, end);
    return { start: start + text.length - text.trimStart().length, end: end - (text.length - text.trimEnd().length) };
}
/** Finds the bracket that closes the one at `open`. */
function matching(code, open) {
    const opening = code[open];
    const closing = opening === "(" ? ")" : "}";
    let depth = 0;
    for (let at = open; at < code.length; at++) {
        if (code[at] === opening)
            depth++;
        else if (code[at] === closing && --depth === 0)
            return at;
    }
    throw new Error("The source has an unclosed bracket.");
}
