import { expect } from "chai";

import { LOCAL_CHAIN_ID } from "../../../api/chain/local-contracts.ts";
import { readDeploymentFile } from "../../../api/operate/deploy/journal.ts";
import type { Shape } from "../../../client/client.ts";
import type { Examination } from "../../../api/checks/examine.ts";
import type { Reconciliation } from "../../../api/operate/reconcile/reconcile.ts";
import { anvilBinary } from "../../../scripts/scene/anvil.ts";
import { ERC1155Collection__factory } from "../../../types/ethers-contracts/factories/ERC1155Collection__factory.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { TEST_ENGINE } from "../../support/engine.ts";
import { eventually } from "../../support/eventually.ts";
import { rawSql } from "../../support/raw-sql.ts";
import { Released } from "../../support/released.ts";
import { Upgraded } from "../../support/upgraded.ts";
import { jsonOfCli } from "../cli/support/run.ts";

/** What must be gone once everything is finished. Each query counts it. */
const LEFTOVERS = {
  "unfinished requests": "requests where status in ('pending', 'processing')",
  "claimed requests": "requests where ready_at is not null or lane is not null or outcome is not null",
  "media jobs": "media_jobs",
  "open batches": "batches where status = 'open'",
  "batches without cost": "batches where status = 'closed' and fee_wei is null",
  "reserved copies": "holdings where reserved <> '0'",
  "reserved tokens": "nfts where reserved <> '0' or minted_block is null",
  "reserved places": "collections where reserved <> 0",
  "waiting deliveries": "deliveries where status = 'pending'",
  "abandoned deliveries": "abandoned_deliveries",
  // A contract in quarantine is read again when its quarantine ends.
  "unread balances":
    "uncertain_holdings where contract not in (select address from foreign_contracts where state = 'quarantined')",
  "waiting pins": "pins where due_at is not null",
  "garbage collections": "media_collections",
};

/** The fixtures set LOG_QUERY_BLOCKS and REBROADCAST_SECONDS, which are removed. */
const SETTINGS = ["settings warning", "settings warning"];
/** What is left for the operator to do, as `doctor` says, and how the ERC721 collections of a version store their tokens. */
const AFTER: Record<string, { problems: string[]; storage: string }> = {
  // It accepted any passphrase, and did not bind encrypted values to their rows.
  "0.2.0": { problems: ["seed warning", "sealed warning", ...SETTINGS], storage: "standard" },
};
/** The passphrase of the fixtures is a weak one. */
const AFTER_LATER = { problems: ["seed warning", ...SETTINGS], storage: "compact" };

const IN_TIME = 240_000;
/** Requests that a fixture must have under way at least. */
const UNDER_WAY = 40;
/** Tokens of contracts of others that fixtures follow, and that exist. */
const HONEST = 6;

for (const released of Released.all()) {
  const { manifest } = released;
  const outcome = AFTER[manifest.version] ?? AFTER_LATER;

  (anvilBinary() === null ? describe.skip : describe)(`upgrade from ${manifest.version}`, () => {
    let upgraded: Upgraded;

    before("start the present version on what the old one has left", async () => {
      upgraded = await Upgraded.start(released);
    });
    after(() => upgraded.stop());

    it("completes every request that was under way, and leaves nothing unfinished", async () => {
      expect(manifest.unfinished).to.have.length.greaterThan(UNDER_WAY);
      expect(await settled(upgraded)).to.deep.equal([]);
      const rows = await rawSql(upgraded.parts.url, "select id, status, error_code, errors from requests");
      const ends = new Map(rows.map((row) => [row["id"], row]));
      const failed = manifest.unfinished.filter(({ id }) => ends.get(id)?.["status"] !== "completed");
      expect(failed.map((one) => ({ ...one, ...ends.get(one.id) }))).to.deep.equal([]);
    });

    it("delivers one final event of each request, also to receivers that answered with errors before", () => {
      for (const { app, id, state } of manifest.unfinished) {
        const { delivered } = upgraded.parts.outside;
        const arrived = delivered.filter(({ requestId, type }) => requestId === id && type === "completed");
        const expected = app === "closing" ? [] : [`/hook/${app}`];
        expect([...new Set(arrived.map(({ path }) => path))], `${state} ${id}`).to.deep.equal(expected);
        expect(new Set(arrived.map((one) => one.id)).size, `${state} ${id}`).to.equal(expected.length);
      }
    });

    it("keeps the webhook of an app as its first, with its deliveries, and adds another", () =>
      expectFirstWebhook(upgraded));

    it("uses collections of its factory and of the present one side by side", async () => {
      expect(await storagesUsed(upgraded)).to.deep.equal([outcome.storage, "compact"]);
    });

    it("has one event of each movement after the upgrade, which its webhook does not get, and none of earlier ones", () =>
      expectTokenEvents(upgraded));

    it("mints each token once on the chain", async () => {
      const [stored, onChain] = [await completedMints(upgraded), await mintsOnChain(upgraded)];
      expect(stored.size).to.be.greaterThan(1);
      expect(onChain).to.deep.equal(stored);
      expect(await copiesCounted(upgraded)).to.deep.equal(copiesIn(onChain));
    });

    it("decrypts what the old version has encrypted", async () => {
      expect(await unlockableOf(upgraded, "bob")).to.include.members(["the first secret", "secret 6"]);
    });

    it("adopts the contracts that it followed, with all of their holders", () => expectAdoptable(upgraded));

    it("finds no difference to the chain and no problem, and ends the interrupted reconcile", async () => {
      const { env, url } = upgraded.parts;
      const { comparison, recovery } = await jsonOfCli<Reconciliation>(env, "reconcile");
      expect({ told: comparison.told, recovery }).to.deep.equal({ told: [], recovery: null });
      expect(await upgraded.count("collections where royalty_frozen is null and adopted = 0")).to.equal(0);
      expect(await rawSql(url, "select value from meta where key = 'reconcile'")).to.deep.equal([]);
      expect(await problemsOf(env)).to.deep.equal(outcome.problems);
      expect(await sealedAfterRotation(env)).to.deep.equal(["ok"]);
    });
  });
}

/** @returns the unlockable content of a user's tokens. */
async function unlockableOf({ parts: { url, shop } }: Upgraded, user: string): Promise<(string | null)[]> {
  const [row] = await rawSql(url, `select address from wallets where user_identifier = '${user}'`);
  const path = `/v1/accounts/${String(row?.["address"])}`;
  const { nfts } = await shop.ok<{ nfts: { unlockable_content: string | null }[] }>("GET", path);
  return nfts.map((nft) => nft.unlockable_content);
}

async function expectAdoptable({ parts: { env, url, shop, node } }: Upgraded): Promise<void> {
  const contracts = await rawSql(
    url,
    `select address, state from foreign_contracts where type = 'ERC721' order by state`,
  );
  const [app] = await rawSql(url, "select id from apps where name = 'shop'");
  let honest = 0;
  for (const { address, state } of contracts) {
    const words = ["collection", "adopt", String(address), "--app", String(app?.["id"]), "--allow"];
    expect(await jsonOfCli<{ state: string }>(env, ...words)).to.include({ state: "followed" });
    // The one in quarantine lies.
    if (state !== "followed") continue;
    const contract = PlainERC721__factory.connect(String(address), node.provider);
    const { nfts } = await shop.ok<Shape<"NftsPage">>("GET", `/v1/collections/${String(address)}`);
    for (const nft of nfts) expect(nft).to.include({ owner: await contract.ownerOf(nft.token_id) });
    honest += nfts.length;
  }
  expect([contracts.length, honest]).to.deep.equal([3, HONEST]);
}

async function expectTokenEvents(upgraded: Upgraded): Promise<void> {
  const moves = await movesOfCollections(upgraded);
  const late = moves.filter(({ block }) => block > upgraded.parts.oldCheckpoint);
  expect(late.length).to.be.within(1, moves.length - 1);
  const expected = late.map(({ key }) => key).sort();
  await eventually(async () => (await tokenEvents(upgraded)).length >= expected.length || undefined, IN_TIME);
  expect(await tokenEvents(upgraded)).to.deep.equal(expected);
  const sent = upgraded.parts.outside.delivered.filter(({ path }) => path === "/hook/shop");
  expect(["sent", "completed", "error", "corrected", "test"]).to.include.members(sent.map(({ type }) => type));
}

/** Movements of tokens of the apps' collections: each concerns the app of the collection. */
async function movesOfCollections({ parts: { url } }: Upgraded): Promise<{ key: string; block: number }[]> {
  const rows = await rawSql(
    url,
    `select app_id, contract, token_id, t.block_number, log_index, sub_index
       from transfers as t join collections as c on c.address = t.contract`,
  );
  return rows.map((row) => {
    const block = Number(row["block_number"]);
    const place = [row["app_id"], row["contract"], row["token_id"], block, row["log_index"], row["sub_index"]];
    return { block, key: place.join("/") };
  });
}

/** The same of the events that the apps of the collections have. */
async function tokenEvents({ parts: { url } }: Upgraded): Promise<string[]> {
  const rows = await rawSql(url, "select app_id, body from events where type like 'token.%' or type = 'gap'");
  const apps = await rawSql(url, "select address, app_id from collections");
  const owners = new Map(apps.map((row) => [row["address"], row["app_id"]]));
  return rows
    .map((row) => ({ app: row["app_id"], event: JSON.parse(String(row["body"])) as Shape<"TokenEvent"> }))
    .filter(({ app, event }) => owners.get(event.contract_address) === app)
    .map(({ app, event }) =>
      [
        ...[app, event.contract_address, event.token_id, event.block_number],
        ...[event.log_index, event.batch_index],
      ].join("/"),
    )
    .sort();
}

/** Checks that the webhook of the old version is the first of several. */
async function expectFirstWebhook(upgraded: Upgraded): Promise<void> {
  const { outside, shop, url } = upgraded.parts;
  const moved = "webhook_id = app_id and coalesce(subject, '') = coalesce(request_id, '')";
  expect(await upgraded.count(`deliveries where not (${moved})`)).to.equal(0);
  const first = await shop.ok<{ id: string; url: string }>("GET", "/v1/webhook");
  expect(await shop.ok("GET", "/v1/webhooks")).to.deep.equal({ webhooks: [first] });
  const [app] = await rawSql(url, "select id from apps where name = 'shop'");
  expect(first).to.include({ id: app?.["id"], url: `${outside.origin}/hook/shop`, last_error: null });
  const { total } = await shop.ok<{ total: number }>("GET", "/v1/webhook/deliveries");
  expect(await upgraded.count(`deliveries where app_id = '${first.id}'`)).to.equal(total);
  const { id } = await shop.ok<{ id: string }>("POST", "/v1/webhooks", { url: `${outside.origin}/hook/second` });
  await shop.ok("POST", `/v1/webhooks/${id}/test`, {});
  await eventually(() => Promise.resolve(outside.delivered.some(({ path }) => path === "/hook/second") || undefined));
}

/**
 * Mints, moves and burns tokens of an old collection and of a new one.
 * @returns their storages, once it is clear that each collection is by the factory that the database names: the old version had
 *   signed some creations and not others.
 */
async function storagesUsed(upgraded: Upgraded): Promise<unknown[]> {
  const [old, fresh] = [await oldCollection(upgraded), await compactCollection(upgraded)];
  for (const collection of [old, fresh]) await mintMoveAndBurn(upgraded, collection);
  const stored = await rawSql(upgraded.parts.url, "select address, storage from collections where type = 'ERC721'");
  const storages = new Map(stored.map((row) => [row["address"], row["storage"]]));
  for (const [address, storage] of storages) {
    const code = await upgraded.parts.node.provider.getCode(String(address));
    expect(code, String(address)).to.include(await implementationOf(upgraded, String(storage)));
  }
  return [storages.get(old), storages.get(fresh)];
}

/** The address of an implementation, as the code of its clones has it. */
async function implementationOf({ parts: { env } }: Upgraded, storage: string): Promise<string> {
  const deployment = await readDeploymentFile({ folder: env["DEPLOYMENTS_DIR"] ?? "", chainId: LOCAL_CHAIN_ID });
  const factory = deployment?.factories.find((one) => one.storage === storage);
  return (factory?.erc721Implementation ?? "none").slice(2).toLowerCase();
}

/** An ERC721 collection of the old version, of the app `shop`, whose tokens the service may mint and move. */
async function oldCollection({ parts }: Upgraded): Promise<string> {
  const [row] = await rawSql(
    parts.url,
    `select c.address from collections as c join apps on apps.id = c.app_id
      where apps.name = 'shop' and c.type = 'ERC721' and c.soulbound = 0 and c.service_may_mint = 1
        and c.max_supply is null and c.hosting = 'hosted' and c.metadata_frozen = 0
      order by c.seq limit 1`,
  );
  return String(row?.["address"]);
}

async function compactCollection(upgraded: Upgraded): Promise<string> {
  const fields = { type: "ERC721", name: "Made by the new factory", symbol: "NEW" };
  return String((await completed(upgraded, "/v1/collections", fields)).nft_collection);
}

/** Two wallets get tokens, one moves to the other, and one is burnt: in a collection of 0.2.0 through the wallet's delegate. */
async function mintMoveAndBurn(upgraded: Upgraded, collection: string): Promise<void> {
  const { shop, node } = upgraded.parts;
  const [alice, bob] = [await shop.wallet(), await shop.wallet()];
  const ids: string[] = [];
  for (const to of [alice, bob, alice]) {
    const minted = await completed(upgraded, "/v1/nfts", { collection_address: collection, to_address: to, name: "A" });
    ids.push(String(minted.nft_token_id));
  }
  const [first = "", second = "", third = ""] = ids;
  const moved = { contract_address: collection, from_address: alice, to_address: bob, token_id: first };
  await completed(upgraded, "/v1/transfers", moved);
  const contract = ERC721Collection__factory.connect(collection, node.provider);
  const owners = await Promise.all([first, second, third].map((id) => contract.ownerOf(id)));
  expect(owners).to.deep.equal([bob, bob, alice]);
  expect(await contract.balanceOf(bob)).to.equal(2n);
  await completed(upgraded, "/v1/burns", { contract_address: collection, from_address: alice, token_id: third });
  expect(await contract.balanceOf(alice)).to.equal(0n);
}

/** A request from its acceptance to its success. */
async function completed({ parts }: Upgraded, path: string, body: Record<string, unknown>): Promise<RequestBody> {
  const { request_id: id } = await parts.shop.ok<{ request_id: string }>("POST", path, body);
  const request = await eventually(async () => {
    await parts.node.mine();
    const now = await parts.shop.ok<RequestBody>("GET", `/v1/requests/${id}`);
    return now.status === "completed" || now.status === "failed" ? now : undefined;
  }, IN_TIME);
  expect(request).to.include({ status: "completed" });
  return request;
}

/** What `doctor` finds. A contract in quarantine is a part of the fixture. */
async function problemsOf(env: Record<string, string>): Promise<string[]> {
  const { findings } = await jsonOfCli<Examination>(env, "doctor", "--media");
  const bad = findings.filter(({ result, condition }) => result !== "ok" && condition !== "contract_quarantined");
  return bad.map(({ check, result }) => `${check} ${result}`);
}

/** Binds the encrypted values to their rows. @returns what `doctor` says of them then. */
async function sealedAfterRotation(env: Record<string, string>): Promise<string[]> {
  await jsonOfCli(env, "keys", "rotate");
  const { findings } = await jsonOfCli<Examination>(env, "doctor");
  return findings.filter(({ check }) => check === "sealed").map(({ result }) => result);
}

/** Mines until nothing is unfinished. @returns what is unfinished when the time is over. */
async function settled(upgraded: Upgraded): Promise<string[]> {
  let left: string[] = [];
  const looking = eventually(async () => {
    await upgraded.parts.node.mine();
    left = [];
    for (const [what, rows] of Object.entries(LEFTOVERS)) if ((await upgraded.count(rows)) > 0) left.push(what);
    return left.length === 0 ? true : undefined;
  }, IN_TIME);
  // What is left says more than the timeout.
  await looking.catch(() => undefined);
  return left;
}

/** Copies by ERC1155 token, tokens by ERC721 collection, of all completed mints. The keys are addresses and token ids. */
async function completedMints({ parts }: Upgraded): Promise<Map<string, bigint>> {
  const quantity =
    TEST_ENGINE === "sqlite" ? "json_extract(r.command, '$.quantity')" : "(r.command::json->>'quantity')";
  const rows = await rawSql(
    parts.url,
    `select r.nft_collection as collection, r.nft_token_id as token, c.type as type, coalesce(${quantity}, '1') as quantity
       from requests as r join collections as c on c.address = r.nft_collection
      where r.type = 'mint' and r.status = 'completed'`,
  );
  const totals = new Map<string, bigint>();
  for (const row of rows) {
    const collection = String(row["collection"]);
    const key = row["type"] === "ERC721" ? collection : `${collection} ${String(row["token"])}`;
    totals.set(key, (totals.get(key) ?? 0n) + BigInt(String(row["quantity"])));
  }
  return totals;
}

/** Copies by ERC1155 collection, as the collections' records have them. */
async function copiesCounted({ parts }: Upgraded): Promise<Map<string, bigint>> {
  const rows = await rawSql(parts.url, "select address, copies from collections where copies <> '0'");
  return new Map(rows.map((row) => [String(row["address"]), BigInt(String(row["copies"]))]));
}

/** The same from the copies of each token. */
function copiesIn(tokens: ReadonlyMap<string, bigint>): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const [key, copies] of tokens) {
    const [address = "", token] = key.split(" ");
    if (token !== undefined) sums.set(address, (sums.get(address) ?? 0n) + copies);
  }
  return sums;
}

/** The same from the chain, for every collection and token that the database has. */
async function mintsOnChain({ parts: { url, node } }: Upgraded): Promise<Map<string, bigint>> {
  const rows = await rawSql(
    url,
    "select distinct c.address, c.type, case c.type when 'ERC721' then '' else n.token_id end as token from collections as c join nfts as n on n.contract = c.address",
  );
  const totals = new Map<string, bigint>();
  for (const row of rows) {
    const [address, token] = [String(row["address"]), String(row["token"])];
    if (row["type"] === "ERC721")
      totals.set(address, await ERC721Collection__factory.connect(address, node.provider).totalMinted());
    else
      totals.set(
        `${address} ${token}`,
        await ERC1155Collection__factory.connect(address, node.provider).totalSupply(token),
      );
  }
  return totals;
}
