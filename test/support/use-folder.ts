import { temporaryFolder, type TemporaryFolder } from "./folder.ts";

/** Gives each test of the `describe` block an empty folder, and removes it after the test. */
export function useFolder(): { readonly path: string } {
  let folder: TemporaryFolder | null = null;
  beforeEach("create a temporary folder", async () => {
    folder = await temporaryFolder();
  });
  afterEach("remove the temporary folder", async () => {
    await folder?.remove();
    folder = null;
  });
  return {
    get path() {
      if (folder === null) throw new Error("The folder exists only while a test runs.");
      return folder.path;
    },
  };
}
