import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
/** The files of a folder by their paths in it. A folder that does not exist has none. */
export async function contentsOf(folder) {
    const contents = new Map();
    try {
        for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
            if (entry.isDirectory())
                continue;
            const path = join(entry.parentPath, entry.name);
            contents.set(path.slice(folder.length + 1).replaceAll("\\", "/"), await readFile(path));
        }
    }
    catch (error) {
        if (error.code !== "ENOENT")
            throw error;
    }
    return contents;
}
/**
 * Compares the committed files in a folder with those of a build, byte by byte.
 * @param kind what the build makes of files: `built`, `generated`.
 * @returns one line for each file that differs, is missing, or does not belong there.
 */
export async function differences(fresh, folder, kind) {
    const committed = await contentsOf(folder);
    const names = [...new Set([...fresh.keys(), ...committed.keys()])].sort();
    return names.flatMap((name) => {
        const [wanted, present] = [fresh.get(name), committed.get(name)];
        if (wanted === undefined)
            return [`${name}: not a ${kind} file`];
        if (present === undefined)
            return [`${name}: missing`];
        return wanted.equals(present) ? [] : [`${name}: differs from the build`];
    });
}
