import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { FolderError, makeFolder, requireWritableFolder } from "../../../api/shared/folder.ts";
import { useFolder } from "../../support/use-folder.ts";

describe("folder", () => {
  const folder = useFolder();

  describe("makeFolder", () => {
    it("creates the folder and its parents for this user only", async () => {
      const path = join(folder.path, "a", "b");
      makeFolder(path);
      makeFolder(path);
      for (const made of [path, join(folder.path, "a")]) expect((await stat(made)).mode & 0o777).to.equal(0o700);
    });
  });

  describe("requireWritableFolder", () => {
    it("leaves no file in a folder that it can write to", async () => {
      requireWritableFolder(folder.path, "DATA_DIR");
      expect(await readdir(folder.path)).to.deep.equal([]);
    });

    it("names the setting when the path or a parent is a file", async () => {
      const file = join(folder.path, "file");
      await writeFile(file, "");
      for (const [path, message] of [
        [file, `DATA_DIR: cannot write to the folder ${file}: it is a file, not a folder.`],
        [join(file, "below"), "part of the path is a file, not a folder (ENOTDIR). Set DATA_DIR to"],
      ] as const)
        expect(() => {
          requireWritableFolder(path, "DATA_DIR");
        }).to.throw(FolderError, message);
    });

    // Root may write to read-only modes, but nobody may write to /proc.
    for (const path of ["/proc/moneta", "/proc/moneta/below", "/proc/self"]) {
      it(`answers at once for ${path}, where nobody can write`, function () {
        if (process.platform !== "linux") this.skip();
        expect(() => {
          requireWritableFolder(path, "DATA_DIR");
        }).to.throw(FolderError, /^DATA_DIR: cannot write to the folder \/proc\/.*\(E[A-Z]+\)\. Set DATA_DIR/);
      });
    }
  });
});
