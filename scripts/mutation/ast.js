import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { z } from "zod";
const output = z.object({
    sources: z.record(z.string(), z.object({ ast: z.unknown() })).optional(),
    errors: z.array(z.object({ severity: z.string(), formattedMessage: z.string() })).optional(),
});
/** Parses the contracts. @param files paths from the root of the project. @returns the tree of each file. */
export function parseContracts(root, files) {
    const compiler = createRequire(import.meta.url)("solc");
    const sources = Object.fromEntries(files.map((file) => [file, { content: readFileSync(join(root, file), "utf8") }]));
    const settings = { evmVersion: "cancun", outputSelection: { "*": { "": ["ast"] } } };
    const text = compiler.compile(JSON.stringify({ language: "Solidity", sources, settings }), {
        import: (path) => readImport(root, path),
    });
    const result = output.parse(JSON.parse(text));
    const error = result.errors?.find(({ severity }) => severity === "error");
    if (error !== undefined)
        throw new Error(error.formattedMessage);
    const trees = new Map();
    for (const file of files) {
        const tree = result.sources?.[file]?.ast;
        if (!isNode(tree))
            throw new Error(`The compiler returned no syntax tree for ${file}.`);
        trees.set(file, tree);
    }
    return trees;
}
function readImport(root, path) {
    const file = path.startsWith("contracts/") ? join(root, path) : join(root, "node_modules", path);
    try {
        return { contents: readFileSync(file, "utf8") };
    }
    catch (error) {
        return { error: String(error) };
    }
}
export function isNode(value) {
    return typeof value === "object" && value !== null && "nodeType" in value && "src" in value;
}
/** The nodes directly below a node, in the order of the source. */
export function children(node) {
    return Object.values(node).flatMap((value) => Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : []);
}
