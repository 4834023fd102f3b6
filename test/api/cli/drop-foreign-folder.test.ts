import { execFileSync } from "node:child_process";
import { readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { JOURNAL } from "../../../client/drop-node/journal.ts";
import { LOCK } from "../../../client/drop-node/lock.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { randomAddress } from "../support/rows.ts";
import { useDrop } from "./support/use-drop.ts";

describe("command line: drop of a folder from others", () => {
  const drop = useDrop();
  const { place } = drop;
  beforeEach(() => drop.writeJsonLayout(2));

  const run = () => drop.run("--json", "--yes");

  it("does not lock through a link", async () => {
    await symlink(join(place.path, "elsewhere"), join(place.path, LOCK));
    expect((await rejectionOf(run())).message).to.contain("cannot be a lock");
    expect(await readdir(place.path)).not.to.contain("elsewhere");
  });

  it("writes neither the journal nor the report through a link", async () => {
    const target = join(place.path, "target");
    await writeFile(target, "mine");
    await symlink(target, join(place.path, JOURNAL));
    expect((await rejectionOf(run())).message).to.contain("is a link");
    await rm(join(place.path, JOURNAL));
    for (const name of ["drop-report.csv", "drop-report.csv.part"]) await symlink(target, join(place.path, name));
    expect((await run()).failed).to.equal(false);
    expect(await readFile(target, "utf8")).to.equal("mine");
    expect(await readFile(join(place.path, "drop-report.csv"), "utf8")).to.contain("completed");
    expect((await readdir(place.path)).filter((name) => name.startsWith(".drop-report"))).to.deep.equal([]);
  });

  it("reads no metadata outside of the folder, and no pipe", async () => {
    await symlink("/etc/hostname", join(place.path, "json", "3.json"));
    execFileSync("mkfifo", [join(place.path, "json", "4.json")]);
    const { output } = await run();
    expect(output).to.contain("The file is outside of the folder.").and.to.contain("The file is not a regular file.");
    await rm(join(place.path, "json"), { recursive: true });
    await symlink("/etc/hostname", join(place.path, "metadata.csv"));
    expect((await run()).output).to.contain("The file is outside of the folder.");
  });

  describe("given the journal of a drop", () => {
    const journal = () => join(place.path, JOURNAL);
    const write = (...lines: string[]) => writeFile(journal(), `${lines.join("\n")}\n`);

    async function dropped() {
      await run();
      const [start = "", ...lines] = (await readFile(journal(), "utf8")).trim().split("\n");
      const [batch = ""] = lines.filter((line) => line.includes('"step":"send"'));
      return { start, uploads: lines.filter((line) => line.includes('"entry":"upload"')), batch };
    }

    it("continues none of another receiver, and sends no batch of another receiver or collection", async () => {
      const { start, uploads, batch } = await dropped();
      const { to } = JSON.parse(start) as { to: string };
      const other = randomAddress();
      expect(batch).to.contain(to);
      for (const entries of [
        [start.replace(to, other), ...uploads],
        [start, ...uploads, batch.replace(to, other)],
        [start, ...uploads, batch.replace(/"collection_address":"0x\w+"/, `"collection_address":"${other}"`)],
      ]) {
        await write(...entries);
        expect((await rejectionOf(run())).message).to.contain("another receiver");
      }
      await write(start, ...uploads, batch);
      expect((await run()).failed).to.equal(false);
    });

    it("sends a batch of a version that did not send the old id", async () => {
      const { start, uploads, batch } = await dropped();
      const earlier = batch.replaceAll(/,"reference":"[0-9]+"/g, "").replace(/"key":"[^"]+/, "$&-0");
      expect(earlier).to.not.contain("reference");
      await write(start, ...uploads, earlier);
      expect((await run()).failed).to.equal(false);
    });

    it("sends no batch that names another owner or reference than the table", async () => {
      await rm(join(place.path, "json"), { recursive: true });
      await writeFile(join(place.path, "metadata.csv"), "file,name,owner,reference\n1.svg,A,bob,mine");
      const { start, uploads, batch } = await dropped();
      for (const [own, other] of [
        ['"to_user":"bob"', '"to_user":"eve"'],
        ['"to_user":"bob"', `"to_address":"${randomAddress()}"`],
        ['"reference":"mine"', '"reference":"theirs"'],
      ] as const) {
        expect(batch).to.contain(own);
        await write(start, ...uploads, batch.replace(own, other));
        expect((await rejectionOf(run())).message).to.contain("another receiver");
      }
    });
  });
});
