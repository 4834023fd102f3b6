import { expect } from "chai";

import type { ChainClient } from "../../../api/chain/client.ts";
import { parseSettings } from "../../../api/config/settings.ts";
import type { Chain } from "../../../api/context/chain-identity.ts";
import { loadCheckedKeys } from "../../../api/context/check-keys.ts";
import { StartupError } from "../../../api/context/startup-error.ts";
import { createKeyring } from "../../../api/keys/keyring.ts";
import { newSeedPhrase, writeSeedFile } from "../../../api/keys/seed-file.ts";
import { ensureLane, reuseLanes } from "../../../api/store/sending/lanes.ts";
import { logLines } from "../../support/log-lines.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useTestDatabase } from "../../support/use-database.ts";
import { useFolder } from "../../support/use-folder.ts";

describe("the check of lanes at the start", () => {
  const database = useTestDatabase();
  const folder = useFolder();
  const { logger, lines } = logLines();
  const phrase = newSeedPhrase();
  const { address } = createKeyring(phrase).lane(0);
  const secrets = {
    SEED_PASSPHRASE: "correct horse battery staple",
    SECRET_KEYS: Buffer.alloc(32, 7).toString("base64"),
  };
  const seedFile = () => `${folder.path}/seed.json`;

  beforeEach(async () => {
    lines.length = 0;
    await writeSeedFile(seedFile(), phrase, secrets.SEED_PASSPHRASE);
  });

  /** Starts while the chain has so many transactions of the lane. */
  const start = (mined: number, { local = false, pending = mined } = {}) => {
    const highestNonces = (of: string[], tag = "latest") =>
      Promise.resolve(of.map(() => (tag === "pending" ? pending : mined)));
    const place = { database, client: { highestNonces } as unknown as ChainClient, logger };
    const settings = parseSettings({ ...secrets, LANES: "1", SEED_FILE: seedFile() });
    return loadCheckedKeys(settings, { local } as Chain, place);
  };

  it("accepts a new seed with a new database", async () => {
    expect((await start(0)).lanes).to.deep.equal([0]);
  });

  for (const [words, at] of [
    ["transactions", { mined: 3, pending: 3 }],
    ["transactions that wait in the pool", { mined: 0, pending: 1 }],
  ] as const) {
    it(`refuses a database without any, if the lane has ${words}, and names the ways out`, async () => {
      const error = await rejectionOf(start(at.mined, { pending: at.pending }));
      expect(error).to.be.instanceOf(StartupError);
      expect(error.message)
        .to.contain(
          `Lane ${address} has ${at.pending.toString()} transactions on chain, and this database has sent none`,
        )
        .and.match(/DATABASE_URL or DATA_DIR.*restore`.*reconcile`.*keys reuse`/);
    });
  }

  it("only warns on a local chain, whose nodes are often used again", async () => {
    expect((await start(3, { local: true })).lanes).to.deep.equal([0]);
    expect(lines.map(({ msg }) => msg).join()).to.contain("this database has sent none");
  });

  // The last of these tests, because the database keeps what the operator says.
  describe("given the operator said that this is a new installation with an old seed", () => {
    it("accepts what the lane had sent then, and no further transaction that the database does not know", async () => {
      await database.write((trx) => reuseLanes(trx, new Map([[address, 3]])));
      expect((await start(3)).lanes).to.deep.equal([0]);
      expect((await rejectionOf(start(4))).message).to.contain("this database has sent none");
    });

    it("is not asked again once the database has used the lane, and cannot be said then", async () => {
      await database.write((trx) => ensureLane(trx, 0, address, 3));
      expect((await start(3)).lanes).to.deep.equal([0]);
      expect((await rejectionOf(start(4))).message).to.contain("it is an old backup");
      expect(await database.write((trx) => reuseLanes(trx, new Map([[address, 4]])))).to.equal(false);
    });
  });
});
