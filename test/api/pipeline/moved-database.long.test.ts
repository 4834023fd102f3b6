import { join } from "node:path";

import { expect } from "chai";
import { Wallet } from "ethers";

import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { WebhookReceiver } from "../../../scripts/scene/receiver.ts";
import type { MovedTable } from "../../../api/store/move/move.ts";
import { importKeys } from "../cli/support/import-keys.ts";
import { jsonOfCli } from "../cli/support/run.ts";
import { useService } from "../../support/use-service.ts";

/** Tables that have rows when the database is moved: there is something of every kind under way. */
const IN_USE = (
  "announcements api_tokens apps attempts batch_items batches blocks collections console_sessions " +
  "counters deliveries events holdings idempotency_keys imported_keys lanes media media_jobs meta nfts requests " +
  "transfers wallet_history wallets webhooks"
).split(" ");

describe("a database moved by `migrate-to`", () => {
  // The service stops, and starts on other databases.
  const moneta = useService({ start: false, settings: { MEDIA_STORE: "files" } });
  const { api } = moneta;
  let receiver: WebhookReceiver;

  before(async () => {
    receiver = await WebhookReceiver.listen();
  });
  after(() => receiver.close());

  const file = (name: string) => `file:${join(moneta.folder, `${name}.sqlite`)}`;
  const mint = (collection: string, to: string, fields: Record<string, unknown> = {}) =>
    api.accept("/v1/nfts", { collection_address: collection, to_address: to, ...fields });
  const move = async (from: string, to: string) => {
    const { tables } = await jsonOfCli<{ tables: MovedTable[] }>(
      { ...moneta.env, DATABASE_URL: from },
      "migrate-to",
      to,
    );
    return tables;
  };

  /** A mint and a transfer are sent and not mined; a mint waits for its picture; all webhooks wait. */
  const leaveUnderWay = async (collection: string, holder: string, other: string, image: string) => {
    await moneta.restart({ DATABASE_URL: file("old"), ROLES: "api,relayer,indexer" });
    await jsonOfCli({ ...moneta.env, DATABASE_URL: file("old") }, "console");
    await moneta.provider.send("evm_setAutomine", [false]);
    const sent = [
      await mint(collection, other),
      await api.accept("/v1/transfers", {
        ...{ from_address: holder, to_address: other, contract_address: collection, token_id: 1 },
      }),
    ];
    for (const id of sent) await api.processing(id);
    const waiting = await mint(collection, other, { image: `${image}<!-- 2 -->`, copy_media: true });
    return { sent, waiting };
  };

  it("continues there with everything that was under way, and can be moved back", async () => {
    // Something of each kind is finished.
    await moneta.start({ DATABASE_URL: file("old") });
    const [holder, other] = [await api.wallet(), await api.wallet()];
    const collection = await api.collection({ type: "ERC721" });
    const image = "data:image/svg+xml,<svg/>";
    const first = await mint(collection, holder, { unlockable_content: "secret", image, copy_media: true });
    expect(await api.settled(first)).to.include({ status: "completed" });
    const imported = Wallet.createRandom();
    const imports = (url: string, { privateKey }: { privateKey: string }) =>
      importKeys({ ...moneta.env, DATABASE_URL: url }, moneta.app.appId, [`,${privateKey}`]);
    expect(await imports(file("old"), imported)).to.include({ added: 1 });
    const { nft_token_id: kept } = await api.mint(collection, imported.address);
    await api.ok("PUT", "/v1/webhook", { url: receiver.url });
    const { sent, waiting } = await leaveUnderWay(collection, holder, other, image);
    // Another mint is only accepted.
    await moneta.restart({ DATABASE_URL: file("old"), ROLES: "api" });
    const body = { collection_address: collection, to_address: holder, unlockable_content: "more" };
    const key = { "idempotency-key": "once" };
    const accepted = await api.send<{ request_id: string }>("POST", "/v1/nfts", body, key);
    const before = await api.ok("GET", "/v1/requests");
    await moneta.stop();

    const moved = await move(file("old"), moneta.databaseUrl);
    const filled = moved.filter(({ rows }) => rows > 0).map(({ table }) => table);
    expect(filled).to.include.members(IN_USE);

    // Before anything is sent, the new database answers the same.
    await moneta.start({ ROLES: "api" });
    expect(await api.ok("GET", "/v1/requests")).to.deep.equal(before);
    const repeated = await api.send("POST", "/v1/nfts", body, key);
    expect(repeated.body).to.deep.equal(accepted.body);
    await moneta.provider.send("evm_setAutomine", [true]);
    await moneta.provider.send("evm_mine", []);
    await moneta.restart();
    const ids = [...sent, waiting, accepted.body.request_id];
    for (const id of ids) expect(await api.settled(id)).to.include({ status: "completed" });
    for (const id of ids) {
      await receiver.received(({ body: told }) => told["request_id"] === id && told["type"] === "completed");
    }
    const final = receiver.calls.filter(({ body: told }) => told["type"] === "completed").map(({ headers }) => headers);
    expect(new Set(final.map((headers) => headers["webhook-id"])).size).to.equal(ids.length);
    const contract = ERC721Collection__factory.connect(collection, moneta.provider);
    expect(await contract.totalSupply()).to.equal(5n);
    await api.move(collection, Number(kept), imported.address, other);
    expect(await imports(moneta.databaseUrl, imported)).to.include({ already_there: 1 });
    expect(await imports(moneta.databaseUrl, Wallet.createRandom())).to.include({ added: 1 });
    const listing = await api.ok("GET", `/v1/accounts/${other}`);
    const contents = await api.ok("GET", `/v1/accounts/${holder}`);
    expect(JSON.stringify(contents)).to.contain("more");
    await moneta.stop();

    await move(moneta.databaseUrl, file("back"));
    await moneta.start({ DATABASE_URL: file("back") });
    expect(await api.ok("GET", `/v1/accounts/${other}`)).to.deep.equal(listing);
    expect(await api.settled(await mint(collection, holder))).to.include({ status: "completed", nft_token_id: 6 });
  });
});
