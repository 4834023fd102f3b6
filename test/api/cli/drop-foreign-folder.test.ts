import { execFileSync } from "node:child_process";
import { readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { JOURNAL } from "../../../api/cli/drop/journal.ts";
import { LOCK } from "../../../api/cli/drop/drop.ts";
import { useFolder } from "../../support/use-folder.ts";
import { useService } from "../../support/use-service.ts";
import { writeJsonLayout } from "./support/drop-folder.ts";
import { refusalOf } from "./support/refusal.ts";
import { runCli } from "./support/run.ts";

describe("command line: drop of a folder from others", () => {
  const moneta = useService();
  const place = useFolder();
  let words: string[] = [];
  beforeEach(async () => {
    const collection = await moneta.api.collection({ type: "ERC721" });
    await writeJsonLayout(place.path, 2);
    words = [
      ...["drop", place.path, "--collection", collection, "--url", moneta.baseUrl],
      ...["--user", "alice", "--json", "--yes"],
    ];
  });

  const run = () => runCli({ MONETA_TOKEN: moneta.app.token }, ...words);

  it("does not lock through a link", async () => {
    await symlink(join(place.path, "elsewhere"), join(place.path, LOCK));
    expect((await refusalOf(run())).message).to.contain("cannot be a lock");
    expect(await readdir(place.path)).not.to.contain("elsewhere");
  });

  it("writes neither the journal nor the report through a link", async () => {
    const target = join(place.path, "target");
    const journal = join(place.path, JOURNAL);
    await writeFile(target, "mine");
    await symlink(target, journal);
    expect((await refusalOf(run())).message).to.contain("is a link");
    await rm(journal);
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
    expect(output).to.contain("The file is outside of the folder.").and.to.contain("This is not a file.");
    await rm(join(place.path, "json"), { recursive: true });
    await symlink("/etc/hostname", join(place.path, "metadata.csv"));
    expect((await run()).output).to.contain("The file is outside of the folder.");
  });

  it("continues no journal of another receiver, and sends no batch of another receiver or collection", async () => {
    await run();
    const journal = join(place.path, JOURNAL);
    const [start = "", ...lines] = (await readFile(journal, "utf8")).trim().split("\n");
    const { to } = JSON.parse(start) as { to: string };
    const other = await moneta.api.wallet();
    const batch = lines.find((line) => line.includes('"entry":"batch"')) ?? "";
    expect(batch).to.contain(to);
    const uploads = lines.filter((line) => line.includes('"entry":"upload"'));
    const foreign = [
      [start.replace(to, other), ...uploads],
      [start, ...uploads, batch.replace(to, other)],
      [start, ...uploads, batch.replace(/"collection_address":"0x\w+"/, `"collection_address":"${other}"`)],
    ];
    for (const entries of foreign) {
      await writeFile(journal, `${entries.join("\n")}\n`);
      expect((await refusalOf(run())).message).to.contain("another receiver");
    }
    await writeFile(journal, `${[start, ...uploads, batch].join("\n")}\n`);
    expect((await run()).failed).to.equal(false);
  });
});
