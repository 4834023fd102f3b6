import { temporaryFolder } from "./folder.ts";
import { useResource } from "./use-resource.ts";

/** Gives each test of the `describe` block an empty folder, and removes it after the test. */
export function useFolder(): { readonly path: string } {
  return useResource({ open: temporaryFolder, close: (folder) => folder.remove() });
}
