import { stat } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
/** Most bytes of the client. `npm run docs:update` writes them into client/README.md. */
export const SIZE_LIMITS = { packed: 120_000, browser: 10_000 };
/** @param entry what a page imports: a package or a file, as it is found from the folder. */
export async function sizeOfClient(tarball, entry, folder) {
    const { outputFiles } = await build({
        stdin: { contents: `export * from ${JSON.stringify(entry)};`, resolveDir: folder },
        ...{ bundle: true, minify: true, platform: "browser", format: "esm", target: "es2022", write: false },
    });
    const [script] = outputFiles;
    if (script === undefined)
        throw new Error("The bundle of the client is empty.");
    return { packed: (await stat(tarball)).size, browser: gzipSync(script.contents, { level: 9 }).length };
}
