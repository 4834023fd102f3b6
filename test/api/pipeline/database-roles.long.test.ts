import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import { rawSql } from "../../support/raw-sql.ts";
import { describeOn } from "../../support/engine.ts";
import { eventually } from "../../support/eventually.ts";
import { ROOT } from "../../support/process.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli } from "../cli/support/run.ts";

const ROLES = ["moneta_service", "moneta_media", "moneta_ipfs"] as const;
/** The users that compose.yaml's database has. */
const USERS = { moneta_service: "moneta_api", moneta_media: "moneta_copies", moneta_ipfs: "moneta_peers" };
/** What creates them, without the commands of psql that read the passwords from the environment. */
const CREATE_USERS = readFileSync(join(ROOT, "ops/database-users.sql"), "utf8")
  .replaceAll(/^\\getenv .*$/gm, "")
  .replaceAll(/:'(\w+)_password'/g, "'password of $1'");
const NO_RIGHT = /permission denied/;

describeOn("postgres", "the roles of PostgreSQL", () => {
  // Each process connects as another user.
  const moneta = useService({ start: false, settings: { MEDIA_STORE: "database" } });
  const { api } = moneta;

  /** The URL with which a member of a role connects. */
  const urlOf = (role: (typeof ROLES)[number]) => {
    const url = new URL(moneta.databaseUrl);
    [url.username, url.password] = [USERS[role], `password of ${role.replace("moneta_", "")}`];
    return url.href;
  };
  const asOwner = (text: string) => rawSql(moneta.databaseUrl, text);
  const refusal = (role: (typeof ROLES)[number], text: string) =>
    rawSql(urlOf(role), text).then(
      () => "it was allowed",
      (error: unknown) => String(error),
    );

  let server: string;

  before(async () => {
    server = Object.assign(new URL(moneta.databaseUrl), { pathname: "/postgres" }).href;
    // The second time changes nothing.
    for (let time = 0; time < 2; time++) await asOwner(CREATE_USERS);
    expect(await jsonOfCli({ ...moneta.env, DATABASE_URL: moneta.databaseUrl }, "migrate")).to.deep.equal({
      migrated: true,
      roles: [...ROLES].sort(),
    });
    await moneta.startProcess({ ROLES: "api,relayer,indexer,webhooks", DATABASE_URL: urlOf("moneta_service") });
    const media = moneta.spawn({ ROLES: "media", DATABASE_URL: urlOf("moneta_media") });
    const ipfs = moneta.spawn({
      ROLES: "ipfs",
      DATABASE_URL: urlOf("moneta_ipfs"),
      IPFS_LISTEN: "/ip4/127.0.0.1/tcp/0",
    });
    for (const process of [media, ipfs]) await process.printed(/"msg":"serving"/);
  });
  after(async () => {
    // The database, and with it every right that they had, is gone.
    for (const role of ROLES) await rawSql(server, `drop role ${USERS[role]}, ${role}`);
  });

  it("let every process do its work: media are copied and announced, a mint completes, and one without media fails", async () => {
    const [collection, wallet] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    const mint = { collection_address: collection, to_address: wallet, copy_media: true };
    const good = await api.accept("/v1/nfts", { ...mint, image: "data:,a%20picture", unlockable_content: "secret" });
    const bad = await api.accept("/v1/nfts", { ...mint, image: "http://127.0.0.1:9/none" });
    expect((await api.settled(good)).status).to.equal("completed");
    expect(await api.settled(bad)).to.include({ status: "failed", error_code: "media_unavailable" });
    // The IPFS process takes the jobs of the content that was hosted.
    await eventually(async () => {
      const [row] = await asOwner("select count(*) as jobs from leases where holder is not null");
      return Number(row?.["jobs"]) > 0 ? true : undefined;
    });
  });

  it("refuse what a process does not need", async () => {
    const insert = "insert into requests default values";
    for (const role of ["moneta_media", "moneta_ipfs"] as const) {
      expect(await refusal(role, insert), role).to.match(NO_RIGHT);
      expect(await refusal(role, "select * from api_tokens"), role).to.match(NO_RIGHT);
      expect(await refusal(role, "update webhooks set url = 'http://x.example'"), role).to.match(NO_RIGHT);
      expect(await refusal(role, "insert into meta (key, value) values ('unbound_values', 'x')"), role).to.match(
        NO_RIGHT,
      );
    }
    expect(await refusal("moneta_ipfs", "update requests set status = 'completed'")).to.match(NO_RIGHT);
    expect(await refusal("moneta_ipfs", "select secrets from webhooks")).to.match(NO_RIGHT);
    for (const role of ROLES) {
      expect(await refusal(role, "create table more (id integer)"), role).to.match(NO_RIGHT);
      expect(await refusal(role, "drop table requests"), role).to.match(/must be owner/);
      expect(await refusal(role, "delete from kysely_migration"), role).to.match(NO_RIGHT);
    }
  });
});
