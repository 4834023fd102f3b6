import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
/** The only file that reads TEST_ENGINE. */
export const ENGINE_FILE = "test/support/engine.ts";
/** What Hardhat writes. It may not be there yet, and imports nothing of the project. */
export const GENERATED = /^types\//;
/** The only file that opens databases. */
const OPENING_FILE = "api/store/db/database.ts";
/**
 * Those of the test files to which the engine of the database can make a difference: they import the file that knows the
 * engine or the file that opens databases, directly or through other files. The others run in the same way on every
 * engine, so one run of them is enough.
 * @param patterns of test files, relative to the root of the project.
 */
export function engineTests(patterns) {
    const imports = new Map();
    return globSync(patterns)
        .map((path) => path.replaceAll("\\", "/"))
        .sort()
        .filter((file) => {
        const files = filesOf(file, imports);
        return files.has(ENGINE_FILE) || files.has(OPENING_FILE);
    });
}
/** The engine for which alone a file has tests (`describeOn`); null: it has some for each. */
export function onlyOn(file) {
    const text = readFileSync(file, "utf8");
    if (/^describe[(.]/m.test(text))
        return null;
    const engines = new Set([...text.matchAll(/^describeOn\("(sqlite|postgres)"/gm)].map((match) => match[1]));
    const [engine] = engines;
    return engines.size === 1 && engine !== undefined ? engine : null;
}
/** A file and all that it imports, directly or not. Imports of types count: that is simpler, and never leaves out too much. */
export function filesOf(file, imports = new Map()) {
    const files = new Set([file]);
    // A set that grows while it is walked through: each file is visited once.
    for (const visited of files) {
        const found = imports.get(visited) ?? importsOf(visited);
        imports.set(visited, found);
        for (const imported of found)
            files.add(imported);
    }
    return files;
}
function importsOf(file) {
    if (!file.endsWith(".ts") || GENERATED.test(file))
        return [];
    return ts
        .preProcessFile(readFileSync(file, "utf8"))
        .importedFiles.filter(({ fileName }) => fileName.startsWith("."))
        .map(({ fileName }) => join(dirname(file), fileName).replaceAll("\\", "/"));
}
