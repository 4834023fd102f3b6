import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";
import { Wallet } from "ethers";

import { sentenceOf } from "../../../api/cli/sentence.ts";
import type { Shape } from "../../../client/client.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { rawSql, withClient } from "../../support/raw-sql.ts";
import { describeOn } from "../../support/engine.ts";
import { eventually } from "../../support/eventually.ts";
import { ROOT, type TestProcess } from "../../support/process.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useService } from "../../support/use-service.ts";
import { signedAdoption } from "../support/adopt.ts";
import { importKeys, runImport } from "../cli/support/import-keys.ts";
import { jsonOfCli, runCli } from "../cli/support/run.ts";

const ROLES = ["moneta_service", "moneta_relayer", "moneta_media", "moneta_ipfs"] as const;
/** The users that compose.yaml's database has. */
const USERS = {
  moneta_service: "moneta_api",
  moneta_relayer: "moneta_signer",
  moneta_media: "moneta_copies",
  moneta_ipfs: "moneta_peers",
};
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
  let relayer: TestProcess;

  const startRelayer = async (role: "moneta_service" | "moneta_relayer") => {
    relayer = moneta.spawn({ ROLES: "relayer", DATABASE_URL: urlOf(role) });
    await relayer.printed(/"msg":"serving"/);
  };

  before(async () => {
    server = Object.assign(new URL(moneta.databaseUrl), { pathname: "/postgres" }).href;
    // The second time changes nothing.
    for (let time = 0; time < 2; time++) await asOwner(CREATE_USERS);
    expect(await jsonOfCli({ ...moneta.env, DATABASE_URL: moneta.databaseUrl }, "migrate")).to.deep.equal({
      migrated: true,
      roles: [...ROLES].sort(),
    });
    // Each does its work alone.
    const service = { DATABASE_URL: urlOf("moneta_service") };
    await moneta.startProcess({ ROLES: "api", ...service });
    for (const role of ["indexer", "webhooks"])
      await moneta.spawn({ ROLES: role, ...service }).printed(/"msg":"serving"/);
    await startRelayer("moneta_relayer");
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
    const good = await api.accept("/v1/nfts", {
      ...mint,
      image: "data:,GIF89a%20picture",
      unlockable_content: "secret",
    });
    const bad = await api.accept("/v1/nfts", { ...mint, image: "http://127.0.0.1:9/none" });
    expect((await api.settled(good)).status).to.equal("completed");
    expect(await api.settled(bad)).to.include({ status: "failed", error_code: "media_unavailable" });
    // The IPFS process takes the jobs of the content that was hosted.
    await eventually(async () => {
      const [row] = await asOwner("select count(*) as jobs from ipfs_leases where holder is not null");
      return Number(row?.["jobs"]) > 0 ? true : undefined;
    });
  });

  it("let a process adopt a contract, another read it back, and a third send transfers of its tokens", async () => {
    const owner = await moneta.provider.getSigner(3);
    const contract = await new WizardERC721__factory(owner).deploy(owner.address, 3);
    const [address, wallet] = [await contract.getAddress(), await api.wallet()];
    await (await contract.transferFrom(owner.address, wallet, 1)).wait();
    await api.ok("POST", "/v1/collections/adopt", await signedAdoption(api, address, owner));
    await eventually(async () => {
      const { collection } = await api.ok<Shape<"NftsPage">>("GET", `/v1/collections/${address}`);
      return collection.adopted?.state === "followed" && collection.minted === 3 ? true : undefined;
    });
    const transfer = { contract_address: address, token_id: 1, from_address: wallet, to_address: owner.address };
    expect((await api.completed("/v1/transfers", transfer)).status).to.equal("completed");
    await eventually(async () => {
      const nft = await api.ok<Shape<"Erc721Nft">>("GET", `/v1/collections/${address}/1`);
      return nft.owner === owner.address ? true : undefined;
    });
  });

  it("refuse what a process does not need", async () => {
    for (const role of ["moneta_media", "moneta_ipfs"] as const) {
      expect(await refusal(role, "update webhooks set url = 'http://x.example'"), role).to.match(NO_RIGHT);
      expect(await refusal(role, "select secrets from webhooks"), role).to.match(NO_RIGHT);
    }
    for (const role of ROLES) {
      expect(await refusal(role, "create table more (id integer)"), role).to.match(NO_RIGHT);
      expect(await refusal(role, "drop table requests"), role).to.match(/must be owner/);
      expect(await refusal(role, "delete from kysely_migration"), role).to.match(NO_RIGHT);
    }
  });

  it("let only the relayer have imported keys, which transfer and burn as all others", async () => {
    const { privateKey, address } = Wallet.createRandom();
    const imports = (role: (typeof ROLES)[number]) => {
      const env = { ...moneta.env, DATABASE_URL: urlOf(role) };
      return runImport(env, `ann,${privateKey}`, "--app", moneta.app.appId);
    };
    expect((await imports("moneta_service")).errors).to.contain(
      "Only database users with the role moneta_relayer may use imported keys",
    );
    expect((await imports("moneta_relayer")).output).to.contain("1 wallet added");
    for (const role of ["moneta_service", "moneta_media", "moneta_ipfs"] as const)
      for (const text of ["select sealed from imported_keys", "update imported_keys set sealed = ''"])
        expect(await refusal(role, text), role).to.match(NO_RIGHT);
    const collection = await api.collection({ type: "ERC721" });
    const { nft_token_id: id } = await api.mint(collection, address);
    await api.move(collection, Number(id), address, await api.wallet());
    const doctor = await runCli({ ...moneta.env, DATABASE_URL: urlOf("moneta_service") }, "doctor");
    expect(doctor.output).to.contain("1 imported key, some newer than the last");
  });

  it("hold back only the imported wallets of a relayer whose user has the old role, and say what to do", async () => {
    const { privateKey, address } = Wallet.createRandom();
    const asRelayer = { ...moneta.env, DATABASE_URL: urlOf("moneta_relayer") };
    await importKeys(asRelayer, moneta.app.appId, [`old,${privateKey}`]);
    const [derived, to] = [await api.wallet(), await api.wallet()];
    const collection = await api.collection({ type: "ERC721" });
    const ids = [await api.mint(collection, address), await api.mint(collection, derived)];
    const body = (index: number, from: string) => ({
      ...{
        contract_address: collection,
        token_id: Number(ids[index]?.nft_token_id),
        from_address: from,
        to_address: to,
      },
    });
    const asService = { ...moneta.env, DATABASE_URL: urlOf("moneta_service") };
    await relayer.end("SIGTERM");
    await startRelayer("moneta_service");
    const held = await api.accept("/v1/transfers", body(0, address));
    await api.completed("/v1/transfers", body(1, derived));
    const words =
      "Only database users with the role moneta_relayer may use imported keys. Set DATABASE_URL to the URL of such a user.";
    await eventually(async () => {
      const { output } = await runCli(asService, "doctor");
      return output.includes(held) && output.includes(words) ? true : undefined;
    });
    const withdraw = ["wallet", "withdraw", address, "--to", to, "--yes"];
    expect(sentenceOf(await rejectionOf(runCli(asService, ...withdraw)))).to.equal(words);
    await relayer.end("SIGTERM");
    await startRelayer("moneta_relayer");
    await runCli(asService, "parked", "retry", "request", held);
    expect((await api.settled(held)).status).to.equal("completed");
  });

  it("have exactly these rights", async () => {
    for (const role of ROLES) {
      const rights = await rightsOf(urlOf(role));
      expect(rights, role).to.deep.equal(RIGHTS[role](Object.keys(rights)));
    }
  });

  it("do not let the process that copies media change what a request does", async () => {
    const [collection, wallet] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    const mint = { collection_address: collection, to_address: wallet };
    const completed = await api.accept("/v1/nfts", { ...mint, image: "data:,GIF89a", copy_media: true });
    await api.settled(completed);
    // Nothing listens there: the job is tried again for some seconds.
    const pending = await api.accept("/v1/nfts", { ...mint, image: "http://127.0.0.1:9/none", copy_media: true });
    const rows = () =>
      asOwner(`select id, type, command from requests where id in ('${completed}', '${pending}') order by id`);
    const before = await rows();

    const theft = { kind: "transfer", contract: collection, contractType: "ERC721", foreign: false, from: wallet };
    const command = JSON.stringify({ ...theft, to: `0x${"66".repeat(20)}`, tokenId: "0", quantity: "1" });
    for (const id of [completed, pending]) {
      const turn = `update requests set type = 'transfer', status = 'pending', ready_at = 0, lane = null, number = null,
                    batch_id = null, command = '${command}' where id = '${id}'`;
      expect(await refusal("moneta_media", turn)).to.match(NO_RIGHT);
    }
    expect(await refusal("moneta_media", "update meta set value = '{}' where key = 'contracts'")).to.match(NO_RIGHT);

    // What it may write is its result. Nothing but content that is hosted here, in the fields that were asked for, counts.
    const forge = (id: string, result: object) =>
      rawSql(
        urlOf("moneta_media"),
        `insert into media_results (request_id, result) values ('${id}', '${JSON.stringify(result)}')`,
      );
    await forge(completed, { kind: "failed", errorCode: "media_blocked", field: "image", message: "no" });
    await forge(pending, {
      kind: "files",
      cids: { image: "bafkreinothosted" },
      command: JSON.parse(command) as unknown,
    });
    const left = (id: string) => asOwner(`select result from media_results where request_id = '${id}'`);
    await eventually(async () => ((await left(completed)).length === 0 ? true : undefined));
    await eventually(async () => {
      const [parked] = await asOwner(`select reason from media_parked_rows where id = '${pending}'`);
      return /not hosted here/.test(String(parked?.["reason"])) ? true : undefined;
    });
    expect(await rows()).to.deep.equal(before);
    const statuses = await asOwner(`select status from requests where id in ('${completed}', '${pending}')`);
    expect(statuses.map(({ status }) => status)).to.have.members(["completed", "pending"]);
    // Without the forged result, the job ends as it would have.
    await asOwner(`delete from media_results where request_id = '${pending}'`);
    await asOwner(`delete from media_parked_rows where id = '${pending}'`);
    await asOwner(`update media_jobs set due_at = 0 where request_id = '${pending}'`);
    expect(await api.settled(pending)).to.include({ status: "failed", error_code: "media_unavailable" });
  });
});

type Verb = "select" | "insert" | "update" | "delete";
/** What a role may do, by table. A verb with columns in brackets holds for these only. */
type Rights = Record<string, string[]>;

const NO_WRITES = ["kysely_migration", "kysely_migration_lock"];
const UNREADABLE = ["api_tokens", "attempts", "console_sessions", "idempotency_keys", "imported_keys"];

/** The committed list. A new table is read by `moneta_media` unless it is listed, so think about it. @param tables all of them. */
const RIGHTS: Record<(typeof ROLES)[number], (tables: string[]) => Rights> = {
  moneta_service: (tables) => ({ ...RIGHTS.moneta_relayer(tables), imported_keys: ["select(created_at,id,wallet)"] }),
  moneta_relayer: (tables) =>
    ofEach(tables, (table) => (NO_WRITES.includes(table) ? ["select"] : ["select", "insert", "update", "delete"])),
  moneta_media: (tables) =>
    ofEach(tables, (table) =>
      UNREADABLE.includes(table)
        ? []
        : table === "webhooks"
          ? ["select(disabled_at,id)"]
          : ["select", ...(WRITES.media[table] ?? [])],
    ),
  moneta_ipfs: (tables) =>
    ofEach(tables, (table) => (READ_BY_IPFS.includes(table) ? ["select", ...(WRITES.ipfs[table] ?? [])] : [])),
};

const WRITES: Record<"media" | "ipfs", Record<string, Verb[]>> = {
  media: {
    media_jobs: ["update", "delete"],
    media_results: ["insert"],
    forgotten_media: ["insert"],
    media: ["insert", "delete"],
    announcements: ["insert", "delete"],
    media_bytes: ["insert", "delete"],
    pins: ["insert", "update", "delete"],
    media_blocks: ["insert", "update", "delete"],
    media_unused_objects: ["insert", "update", "delete"],
    media_collections: ["insert", "update", "delete"],
    media_parked_rows: ["insert", "update", "delete"],
    other_processes: ["insert", "update", "delete"],
    media_leases: ["insert", "update"],
    media_store_lock: ["update"],
  },
  ipfs: {
    announcements: ["update"],
    other_processes: ["insert", "update", "delete"],
    ipfs_leases: ["insert", "update"],
  },
};

const READ_BY_IPFS = [
  ...["meta", "media", "media_blocks", "media_bytes", "media_collections", "kysely_migration"],
  ...["announcements", "ipfs_leases", "other_processes"],
];

function ofEach(tables: readonly string[], rights: (table: string) => string[]): Rights {
  return Object.fromEntries(tables.map((table) => [table, rights(table)]));
}

/** The rights of the user of a connection, as each statement on each table and column shows. */
async function rightsOf(url: string): Promise<Rights> {
  return withClient(url, async (client) => {
    const { rows: columns } = await client.query<{ table: string; column: string }>(
      `select c.relname as "table", a.attname as "column"
         from pg_class as c join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by c.relname, a.attname`,
    );
    const allowed = (text: string) =>
      client.query(text).then(
        () => true,
        (error: unknown) => {
          if ((error as { code?: string }).code !== "42501") throw error;
          return false;
        },
      );
    const rights: Rights = {};
    for (const table of new Set(columns.map((row) => row.table))) {
      const names = columns.filter((row) => row.table === table).map(({ column }) => column);
      rights[table] = [];
      for (const [verb, statement] of [
        ["select", (column: string) => `select "${column}" from "${table}" where false`],
        [
          "insert",
          (column: string) => `insert into "${table}" ("${column}") overriding system value select null where false`,
        ],
        ["update", (column: string) => `update "${table}" set "${column}" = default where false`],
      ] as const) {
        const those: string[] = [];
        for (const name of names) if (await allowed(statement(name))) those.push(name);
        if (those.length > 0) rights[table].push(those.length === names.length ? verb : `${verb}(${those.join(",")})`);
      }
      if (await allowed(`delete from "${table}" where false`)) rights[table].push("delete");
    }
    return rights;
  });
}
