import { stat } from "node:fs/promises";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";

/** Most bytes of the client. `npm run update -- docs` writes them into client/README.md. */
export const SIZE_LIMITS = { packed: 120_000, browser: 10_000 };

export interface ClientSize {
  /** The package as npm downloads it. Half of it are the types of the OpenAPI document, which no program loads. */
  packed: number;
  /** All of the client with its dependencies, bundled and minified, as a browser downloads it: compressed by gzip. */
  browser: number;
}

/** @param entry what a page imports: a package or a file, as it is found from the folder. */
export async function sizeOfClient(tarball: string, entry: string, folder: string): Promise<ClientSize> {
  const { outputFiles } = await build({
    stdin: { contents: `export * from ${JSON.stringify(entry)};`, resolveDir: folder },
    ...{ bundle: true, minify: true, platform: "browser", format: "esm", target: "es2022", write: false },
  });
  const [script] = outputFiles;
  if (script === undefined) throw new Error("The bundle of the client is empty.");
  return { packed: (await stat(tarball)).size, browser: gzipSync(script.contents, { level: 9 }).length };
}
