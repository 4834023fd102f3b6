import { expect } from "chai";

import { rawSql } from "../../support/raw-sql.ts";
import { describeOn } from "../../support/engine.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli } from "../cli/support/run.ts";

const ROLES = ["moneta_service", "moneta_media", "moneta_ipfs"] as const;
const NO_RIGHT = /permission denied/;

describeOn("postgres", "the roles of PostgreSQL", () => {
  // Each process connects as another user.
  const moneta = useService({ start: false, settings: { MEDIA_STORE: "database" } });
  const { api } = moneta;

  /** The URL with which a member of a role connects. */
  const urlOf = (role: string) => {
    const url = new URL(moneta.databaseUrl);
    [url.username, url.password] = [`${role}_user`, "test"];
    return url.href;
  };
  const asOwner = (text: string) => rawSql(moneta.databaseUrl, text);
  const refusal = (role: string, text: string) =>
    rawSql(urlOf(role), text).then(
      () => "it was allowed",
      (error: unknown) => String(error),
    );

  let server: string;

  before(async () => {
    server = Object.assign(new URL(moneta.databaseUrl), { pathname: "/postgres" }).href;
    for (const role of ROLES) {
      await asOwner(`create role ${role}`);
      await asOwner(`create user ${role}_user password 'test' in role ${role}`);
    }
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
    for (const role of ROLES) await rawSql(server, `drop role ${role}_user, ${role}`);
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
    for (const role of ["moneta_media", "moneta_ipfs"]) {
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
