import { temporaryFolder, type TemporaryFolder } from "./folder.ts";

/** Gives each test of the `describe` block an empty folder, or one to all of them, and removes it afterwards. */
export function useFolder({ per = "test" }: { per?: "test" | "block" } = {}): { readonly path: string } {
  let folder: TemporaryFolder | null = null;
  const [begin, end] = per === "test" ? [beforeEach, afterEach] : [before, after];
  begin("create a temporary folder", async () => {
    folder = await temporaryFolder();
  });
  end("remove the temporary folder", async () => {
    await folder?.remove();
    folder = null;
  });
  return {
    get path() {
      if (folder === null) throw new Error("The folder exists only while tests run.");
      return folder.path;
    },
  };
}
