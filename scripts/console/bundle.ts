import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { build, type Plugin } from "vite";

import { contentsOf, differences } from "../scene/committed-files.ts";

const SOURCES = fileURLToPath(new URL("../../console/", import.meta.url));
/** The committed files, which the service serves at `/console/`. */
export const BUILT = join(SOURCES, "built");

/**
 * Files that become one script: many small ones compress badly. What every page loads is one; what only one screen needs, such as
 * charts, stays apart.
 */
const CHUNKS = [
  {
    name: "base",
    test: /\/console\/(main|parts|service|shell|screens\/(collections?\.|home|token|request|use-live|merge|wallet|holding|create-(wallet|token))|write\/(offers|follow-))|preact|regexparam|vite\/preload|rolldown|openapi-fetch|eventsource|\/client\/(?!drop|bulk|rules\/(json-|receiver|warn))/,
  },
  { name: "webhooks", test: /\/console\/screens\/(webhook|deliver)/ },
  { name: "qr", test: /\/node_modules\/uqr\// },
  {
    name: "forms",
    test: /\/console\/(forms|write|import|screens\/(change-|create-|freeze|import|mint|transfer))|\/client\/(drop|bulk|rules)/,
  },
] as const;

/** Vite's helper preloads scripts and styles of a chunk. Here each chunk is one script, and there is one style sheet. */
const PLAIN_IMPORTS: Plugin = {
  name: "plain-imports",
  enforce: "pre",
  load: (id) => (id.includes("vite/preload-helper") ? "export const __vitePreload = (load) => load();" : null),
};

/** Builds the console. The same sources and packages always give the same bytes. */
export async function bundle(folder: string): Promise<void> {
  await build({
    configFile: false,
    root: SOURCES,
    // Relative URLs, so that the console works behind a proxy that adds a prefix.
    base: "./",
    logLevel: "warn",
    publicDir: false,
    plugins: [PLAIN_IMPORTS],
    oxc: { jsx: { runtime: "automatic", importSource: "preact", development: false } },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: "es2022",
      // Data URLs would need an exception in the content security policy.
      assetsInlineLimit: 0,
      modulePreload: false,
      cssCodeSplit: false,
      license: { fileName: "licenses.md" },
      reportCompressedSize: false,
      rolldownOptions: { output: { codeSplitting: { includeDependenciesRecursively: false, groups: [...CHUNKS] } } },
    },
  });
}

/** @returns one line for each file in `built` that differs from the sources, is missing, or does not belong there. */
export async function compareWithSources(): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "moneta-console-"));
  try {
    await bundle(folder);
    return await differences(await contentsOf(folder), BUILT, "built");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
