import { copyFile, rm } from "node:fs/promises";

import { expect } from "chai";

import { createApp } from "../../../api/operator/create-app.ts";
import { StartupError } from "../../../api/context/chain-identity.ts";
import type { Service } from "../../../api/context/service.ts";
import type { Examination } from "../../../api/doctor/examine.ts";
import type { Reconciliation } from "../../../api/reconcile/reconcile.ts";
import { openDatabase } from "../../../api/store/db/database.ts";
import {
  ERC1155Collection__factory,
  ERC721Collection__factory,
  PlainERC721__factory,
} from "../../../types/ethers-contracts/index.js";
import { ApiClient, type RequestBody } from "../../support/api-client.ts";
import { startNode, type TestNode } from "../../support/node.ts";
import { startTestService, temporaryFolder } from "../../support/service.ts";
import { contents, countedTotals } from "../store/support/whole.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

/** Everything but the relayer: requests are accepted and stay where they are. */
const NOT_SENDING = { ROLES: "api,indexer,webhooks" };

describe("an old backup", function () {
  this.timeout(120_000);
  let node: TestNode;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let env: Record<string, string>;
  let running: (Service & { baseUrl: string }) | null = null;
  let token: string;

  before(async () => {
    node = await startNode();
    folder = await temporaryFolder();
    env = { PORT: "0", RPC_URL: node.url, DATA_DIR: folder.path };
  });
  after(async () => {
    await running?.stop();
    await node.stop();
    await folder.remove();
  });

  async function serve(more: Record<string, string> = {}): Promise<ApiClient> {
    running = await startTestService({ rpcUrl: node.url, dataDir: folder.path, env: more });
    return new ApiClient(running.baseUrl, token);
  }
  async function stop(): Promise<void> {
    await running?.stop();
    running = null;
  }
  const file = () => `${folder.path}/moneta.sqlite`;

  async function inDatabase<T>(work: (database: Awaited<ReturnType<typeof openDatabase>>) => Promise<T>): Promise<T> {
    const database = await openDatabase(`file:${file()}`);
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  }

  async function backup(): Promise<void> {
    await inDatabase((database) => database.read.selectFrom("meta").select("key").execute());
    await copyFile(file(), `${folder.path}/backup`);
  }
  async function restore(): Promise<void> {
    for (const suffix of ["", "-wal", "-shm"]) await rm(file() + suffix, { force: true });
    await copyFile(`${folder.path}/backup`, file());
  }

  /** For a try that the next test must not see. */
  async function folderCopy(): Promise<{ putBack: () => Promise<void> }> {
    await inDatabase((database) => database.read.selectFrom("meta").select("key").execute());
    await copyFile(file(), `${folder.path}/kept`);
    return {
      putBack: async () => {
        for (const suffix of ["", "-wal", "-shm"]) await rm(file() + suffix, { force: true });
        await copyFile(`${folder.path}/kept`, file());
      },
    };
  }

  let [w1, w2, w3] = ["", "", ""];
  let erc721 = "";
  let erc1155 = "";
  let waiting: Record<"mint" | "numbered" | "create" | "transfer" | "collection", string>;
  /** Made after the backup. */
  let lost: { wallet: string; nameless: string; collection: string };
  let mintedInTheLostTime = 0n;
  let oldCursor = "";

  it("is made in the middle of work, and work goes on without it", async () => {
    running = await startTestService({ rpcUrl: node.url, dataDir: folder.path });
    token = (await createApp(running, "shop")).token;
    let api = new ApiClient(running.baseUrl, token);
    [w1, w2, w3] = [await api.wallet(), await api.wallet(), await api.wallet()];
    erc721 = await api.collection({ type: "ERC721" });
    erc1155 = await api.collection({ type: "ERC1155" });
    await api.completed("/v1/nfts", { collection_address: erc721, to_address: w1, name: "First" });
    await stop();

    api = await serve(NOT_SENDING);
    const mint = (to: string, name: string) => ({
      collection_address: erc721,
      to_address: to,
      name,
      unlockable_content: `of ${name}`,
    });
    waiting = {
      mint: await api.accept("/v1/nfts", mint(w1, "Waiting")),
      numbered: await api.accept("/v1/nfts", mint(w2, "Numbered")),
      create: await api.accept("/v1/nfts", {
        collection_address: erc1155,
        initial_owner: w1,
        token_id: 9,
        initial_supply: 5,
        name: "Nine",
      }),
      transfer: await api.accept("/v1/transfers", {
        from_address: w1,
        to_address: w2,
        contract_address: erc721,
        token_id: 1,
      }),
      collection: await api.accept("/v1/collections", { type: "ERC721", name: "Waiting", symbol: "WTG" }),
    };
    await stop();
    // As a relayer leaves it that dies between claiming and signing.
    await inDatabase((database) =>
      database.write((trx) =>
        trx
          .updateTable("requests")
          .set({ number: "77", lane: 0, ready_at: null })
          .where("id", "=", waiting.numbered)
          .execute(),
      ),
    );
    await backup();

    api = await serve();
    for (const id of Object.values(waiting)) expect((await api.settled(id)).status).to.equal("completed");
    const { address: wallet } = await api.ok<{ address: string }>("POST", "/v1/accounts", { user_identifier: "late" });
    lost = {
      wallet,
      nameless: await api.wallet(),
      collection: await api.collection({ type: "ERC721", name: "Late", symbol: "LTE" }),
    };
    await api.completed("/v1/nfts", { collection_address: lost.collection, to_address: wallet, name: "Late one" });
    await api.completed("/v1/nfts", { collection_address: erc721, to_address: lost.nameless });
    const moved = { contract_address: erc721, token_id: 4, from_address: lost.nameless, to_address: wallet };
    await api.completed("/v1/transfers", moved);
    // A wallet that delegates (EIP-7702) to move a foreign token.
    const plain = await (await new PlainERC721__factory(await node.provider.getSigner(4)).deploy()).waitForDeployment();
    const foreign = await plain.getAddress();
    await (await plain.mint(w1, 1)).wait();
    await api.ok("GET", `/v1/accounts/${w1}/${foreign}`);
    await api.completed("/v1/transfers", { from_address: w1, to_address: w2, contract_address: foreign, token_id: 1 });
    oldCursor = await lastEvent(api);
    await stop();
    mintedInTheLostTime = await ERC721Collection__factory.connect(erc721, node.provider).totalMinted();
    expect(mintedInTheLostTime).to.equal(4n);
  });

  async function lastEvent(api: ApiClient): Promise<string> {
    let [query, cursor] = ["", ""];
    for (;;) {
      const { events, next } = await api.ok<{ events: object[]; next: string }>("GET", `/v1/events?limit=30${query}`);
      if (events.length === 0) return cursor;
      [query, cursor] = [`&after=${next}`, next];
    }
  }

  it("is refused at start, with words that say what to do", async () => {
    await restore();
    const api = await serve(NOT_SENDING);
    later = await api.accept("/v1/nfts", { collection_address: erc721, to_address: w3, name: "Later" });
    await stop();
    const error = await startTestService({ rpcUrl: node.url, dataDir: folder.path }).then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(StartupError);
    expect((error as Error).message).to.match(
      /is an old backup, or another service uses the same seed.*`npm run cli -- reconcile`/,
    );
    const { output, failed } = await runCli(env, "doctor", "--json");
    expect(failed).to.equal(true);
    const words = (JSON.parse(output) as Examination).findings
      .filter((finding) => finding.result === "problem")
      .map((finding) => finding.words);
    expect(words.join())
      .to.match(/is an old backup/)
      .and.match(/executed on chain but not sent by this database/);
  });
  let later = "";

  it("is looked at by --dry-run, which changes nothing", async () => {
    const before = await inDatabase(contents);
    const result = await jsonOfCli<Reconciliation>(env, "reconcile", "--dry-run");
    expect(result.dry_run).to.equal(true);
    expect(result.recovery?.uncertain).to.have.members([waiting.mint, waiting.transfer, waiting.collection]);
    expect(await inDatabase(contents)).to.deep.equal(before);
  });

  it("is made safe as its operator wants: with --run-uncertain nothing that waits is failed", async () => {
    const kept = await folderCopy();
    await jsonOfCli<Reconciliation>(env, "reconcile", "--run-uncertain");
    const rows = await inDatabase((database) =>
      database.read.selectFrom("requests").select(["id", "status"]).where("status", "=", "pending").execute(),
    );
    const left = rows.map((row) => row.id);
    expect(left).to.include.members([waiting.mint, waiting.transfer, waiting.collection, later]);
    await kept.putBack();
  });

  it("is made safe by reconcile", async () => {
    const result = await jsonOfCli<Reconciliation>(env, "reconcile");
    expect(result.recovery).to.not.equal(null);
    expect(result.recovery?.recognised).to.equal(2);
    expect(result.recovery?.uncertain).to.have.members([waiting.mint, waiting.transfer, waiting.collection]);
    expect(result.recovery?.lost_wallets).to.deep.equal([lost.nameless]);
    expect(result.adopted).to.include(lost.collection);
    expect(result.ownerless).to.deep.equal([]);
    expect(result.comparison.told).to.deep.equal([]);
  });

  it("starts then, and nothing is doubled", async () => {
    const api = await serve();
    const of = (id: string) => api.ok<RequestBody>("GET", `/v1/requests/${id}`);
    expect((await api.settled(later)).status).to.equal("completed");
    for (const id of [waiting.mint, waiting.transfer, waiting.collection]) {
      expect(await of(id)).to.include({ status: "failed", error_code: "number_taken" });
    }
    expect(await api.settled(waiting.numbered)).to.include({ status: "completed" });
    expect(await api.settled(waiting.create)).to.include({ status: "completed", nft_token_id: 9 });

    const contract = ERC721Collection__factory.connect(erc721, node.provider);
    expect(await contract.totalMinted()).to.equal(mintedInTheLostTime + 1n);
    expect(await ERC1155Collection__factory.connect(erc1155, node.provider).totalSupply(9)).to.equal(5n);
    expect(await contract.ownerOf(1)).to.equal(w2);
    // Recognised by its number, so its content hangs on its token.
    const { nft_token_id: id } = await of(waiting.numbered);
    const { nfts } = await api.ok<{ nfts: Record<string, unknown>[] }>(
      "GET",
      `/v1/accounts/${w2}/${erc721}/${String(id)}`,
    );
    expect(nfts[0]).to.include({ unlockable_content: "of Numbered" });

    const nine = await api.ok<{ metadata: object }>("GET", `/v1/collections/${erc1155}/9`);
    expect(nine.metadata).to.include({ name: "Nine" });

    const { address } = await api.ok<{ address: string }>("POST", "/v1/accounts", { user_identifier: "late" });
    expect(address).to.equal(lost.wallet);
    expect((await api.ok<{ total: number }>("GET", `/v1/accounts/${address}`)).total).to.equal(2);
    const { collections } = await api.ok<{ collections: { address: string }[] }>("GET", "/v1/collections");
    expect(collections.map((collection) => collection.address)).to.include(lost.collection);
    await api.completed("/v1/nfts", { collection_address: lost.collection, to_address: w1, name: "Goes on" });

    const { events } = await api.ok<{ events: { request_id: string }[] }>(
      "GET",
      `/v1/events?after=${oldCursor}&limit=30`,
    );
    expect(events.map((event) => event.request_id)).to.include(later);
    expect(await inDatabase(countedTotals)).to.deep.equal([]);
  });

  it("has nothing left to mend the second time, but the history of wallets that came back", async () => {
    const second = await jsonOfCli<Reconciliation>(env, "reconcile");
    expect(second.recovery).to.equal(null);
    expect(second.comparison.told.map(({ what }) => what).join()).to.match(/history at block/);
    const third = await jsonOfCli<Reconciliation>(env, "reconcile");
    expect(third.recovery).to.equal(null);
    expect(third.comparison.told).to.deep.equal([]);
    const { output, failed } = await runCli(env, "doctor");
    expect(failed, output).to.equal(false);
  });
});
