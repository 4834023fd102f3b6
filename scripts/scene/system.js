import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
/* Programs of the system, and their configuration. */
/** System programs are often in folders that only the path of root has. */
const FOLDERS = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin", "/usr/lib/podman"];
/** The path of a program; null: it is not installed. */
export function programAt(name) {
    for (const folder of FOLDERS) {
        const path = join(folder, name);
        try {
            accessSync(path, constants.X_OK);
            return path;
        }
        catch {
            // The next folder may have it.
        }
    }
    return null;
}
/** Runs a program to its end. @returns what it printed. @throws with its output when it fails. */
export async function output(program, args, cwd) {
    const { stdout, stderr } = await promisify(execFile)(program, args, { cwd });
    return `${stdout}${stderr}`.trim();
}
/** @throws when the text does not have what is to be replaced: the file has changed. */
export function replaced(text, changes) {
    return changes.reduce((before, [from, to]) => {
        if (!before.includes(from))
            throw new Error(`the file no longer has "${from}"`);
        return before.replace(from, to);
    }, text);
}
