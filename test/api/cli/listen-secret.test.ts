import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { keptSecret } from "../../../api/cli/listen.ts";
import { OperatorError } from "../../../api/operate/operator-error.ts";
import { useFolder } from "../../support/use-folder.ts";
import { rejectionOf } from "../../support/rejection.ts";

describe("the signing secret of listen", () => {
  const folder = useFolder();

  it("stays the same, also for runs at the same time, in a file that only its owner can read", async () => {
    const data = join(folder.path, "data");
    const secrets = await Promise.all([1, 2, 3].map(() => keptSecret(data)));
    expect(new Set(secrets).size).to.equal(1);
    expect(await keptSecret(data)).to.equal(secrets[0]);
    const file = join(data, "listen-secret");
    expect(await readFile(file, "utf8")).to.equal(`${secrets[0]!}\n`);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
  });

  it("is not replaced when the file is damaged", async () => {
    await writeFile(join(folder.path, "listen-secret"), "whsec_\n");
    const refusal = await rejectionOf(keptSecret(folder.path));
    expect(refusal).to.be.instanceOf(OperatorError);
    expect(refusal.message).to.contain("listen-secret has no signing secret. Delete the file, or pass --secret.");
  });
});
