import { temporaryFolder } from "./folder.ts";
import { type Lifetime, useResource } from "./use-resource.ts";

/** Gives each test of the `describe` block an empty folder, or one to all of them, and removes it afterwards. */
export function useFolder({ per = "test" }: { per?: Lifetime } = {}): { readonly path: string } {
  return useResource({ open: temporaryFolder, close: (folder) => folder.remove(), per });
}
