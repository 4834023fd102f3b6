import { children, isNode } from "./ast.ts";
/** For each operator what takes its place. */
const OPERATORS = {
    "<": ["<=", ">="],
    "<=": ["<", ">"],
    ">": [">=", "<="],
    ">=": [">", "<"],
    "==": ["!="],
    "!=": ["=="],
    "&&": ["||"],
    "||": ["&&"],
    "+": ["-"],
    "-": ["+"],
    "*": ["+"],
    "/": ["*"],
    "<<": [">>"],
    ">>": ["<<"],
    "&": ["|"],
    "|": ["&"],
    "+=": ["-=", "="],
    "-=": ["+=", "="],
    "|=": ["&=", "="],
    "&=": ["|=", "="],
};
/** Operators whose operands are also dropped, one at a time. */
const DROPPABLE = new Set(["+", "-", "/", "&&", "||"]);
/** Modifiers and base constructors look alike in the tree; only modifiers may be dropped. */
const MODIFIER = "modifierInvocation";
/** Finds every mutant of a file. @param tree its syntax tree, as the compiler returns it. */
export function findMutants(file, text, tree) {
    const source = Buffer.from(text, "utf8");
    const mutants = [];
    function add(node, replacement) {
        const { start, end } = rangeOf(node, source);
        const original = source.toString("utf8", start, end);
        if (original === replacement)
            return;
        const line = source.toString("utf8", 0, start).split("\n").length;
        mutants.push({ file, start, end, replacement, line, original });
    }
    function textOf(node) {
        const { start, end } = rangeOf(node, source);
        return source.toString("utf8", start, end);
    }
    function visit(node) {
        // Assembly has its own tree, and imports have nothing to change.
        if (node.nodeType === "InlineAssembly" || node.nodeType === "ImportDirective")
            return;
        mutate(node, textOf, add);
        for (const child of children(node))
            visit(child);
    }
    visit(tree);
    return mutants;
}
/** Returns the file with the mutant's change. */
export function apply(text, { start, end, replacement }) {
    const source = Buffer.from(text, "utf8");
    return Buffer.concat([source.subarray(0, start), Buffer.from(replacement), source.subarray(end)]).toString("utf8");
}
function mutate(node, textOf, add) {
    switch (node.nodeType) {
        case "BinaryOperation":
        case "Assignment":
            mutateOperation(node, textOf, add);
            break;
        case "UnaryOperation":
            mutateUnary(node, textOf, add);
            break;
        case "IfStatement":
        case "Conditional":
            if (isNode(node["condition"]))
                for (const value of ["true", "false"])
                    add(node["condition"], value);
            break;
        case "ExpressionStatement":
        case "EmitStatement":
        case "RevertStatement":
            add(node, "{}");
            break;
        case "ModifierInvocation":
            if (node["kind"] === MODIFIER)
                add(node, "");
            break;
        case "Literal":
            mutateLiteral(node, textOf(node), add);
            break;
    }
}
function mutateOperation(node, textOf, add) {
    const { operator, nodeType } = node;
    const left = node[nodeType === "Assignment" ? "leftHandSide" : "leftExpression"];
    const right = node[nodeType === "Assignment" ? "rightHandSide" : "rightExpression"];
    if (typeof operator !== "string" || !isNode(left) || !isNode(right))
        return;
    for (const other of OPERATORS[operator] ?? [])
        add(node, `(${textOf(left)} ${other} ${textOf(right)})`);
    if (!DROPPABLE.has(operator))
        return;
    add(node, textOf(left));
    if (operator !== "/")
        add(node, textOf(right));
}
function mutateUnary(node, textOf, add) {
    const { operator, subExpression: operand } = node;
    if (!isNode(operand))
        return;
    if (operator === "!")
        add(node, textOf(operand));
    if (operator === "++")
        add(node, `--${textOf(operand)}`);
    if (operator === "--")
        add(node, `++${textOf(operand)}`);
}
function mutateLiteral(node, text, add) {
    if (text === "true")
        add(node, "false");
    if (text === "false")
        add(node, "true");
    if (node["kind"] === "number" && /^[\d_]+$/.test(text))
        add(node, (BigInt(text.replaceAll("_", "")) + 1n).toString());
}
/** The compiler writes a position as "start:length:file", in bytes. The semicolon of a statement comes after it. */
function rangeOf(node, source) {
    const [start = 0, length = 0] = node.src.split(":").map(Number);
    const end = start + length;
    const isStatement = node.nodeType.endsWith("Statement") && node.nodeType !== "IfStatement";
    return { start, end: isStatement && source.toString("utf8", end, end + 1) === ";" ? end + 1 : end };
}
