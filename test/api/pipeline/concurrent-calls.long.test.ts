import { expect } from "chai";

import { type Answer, ApiClient } from "../../support/api-client.ts";
import { createAppIn } from "../../../scripts/scene/scene.ts";
import { rawSql } from "../../support/raw-sql.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli, runCli } from "../cli/support/run.ts";

type Json = Record<string, unknown>;

/** Two API processes on one database. No relayer runs yet, so accepted requests stay pending. */
describe("concurrent calls to two API processes", () => {
  const moneta = useService({ node: "deployed" });
  let clients: ApiClient[];
  let urls: string[];
  let wallet: string;
  let erc721: string;
  let erc1155: string;
  const accepted: string[] = [];

  before(async () => {
    const { api } = moneta;
    wallet = await api.wallet();
    erc721 = await api.collection({ type: "ERC721", mint_supply_count: 3 });
    erc1155 = await api.collection({ type: "ERC1155" });
    await api.mint(erc721, wallet);
    await api.create(erc1155, wallet, 1, 10);
    await moneta.stop();
    ({ urls } = await moneta.startApis(2));
    clients = urls.map((url) => ApiClient.at(url, moneta.app.token));
  });

  /** Sends the calls to both processes alternately, all concurrently. */
  function send(path: string, body: Json, count: number, headers: Record<string, string> = {}): Promise<Answer[]> {
    const calls = Array.from({ length: count }, (_, index) => clients[index % clients.length]!);
    return Promise.all(calls.map((client) => client.send("POST", path, body, headers)));
  }

  /** The number of accepted calls, and the error codes of the others. */
  async function race(path: string, body: Json, count: number): Promise<{ accepted: number; codes: unknown[] }> {
    const answers = await send(path, body, count);
    const good = answers.filter((answer) => answer.status === 200);
    accepted.push(...good.map((answer) => String(answer.body["request_id"])));
    const refused = answers.filter((answer) => answer.status !== 200);
    expect(refused.every((answer) => answer.status === 422)).to.equal(true);
    return { accepted: good.length, codes: [...new Set(refused.map((answer) => answer.body["error_code"]))] };
  }

  it("mint the last tokens of a cap, create an ERC1155 id, transfer a token and a balance", async () => {
    const mint = { collection_address: erc721, to_address: wallet };
    const create = { collection_address: erc1155, initial_owner: wallet, token_id: 2, initial_supply: 1 };
    const moved = { from_address: wallet, to_address: await clients[0]!.wallet(), token_id: 1 };
    for (const [path, body, count, wanted, code] of [
      ["/v1/nfts", mint, 30, 2, "supply_exceeded"],
      ["/v1/nfts", create, 20, 1, "token_already_exists"],
      ["/v1/transfers", { ...moved, contract_address: erc721 }, 20, 1, "token_busy"],
      ["/v1/transfers", { ...moved, contract_address: erc1155, amount: 3 }, 20, 3, "insufficient_balance"],
    ] as const)
      expect(await race(path, body, count)).to.deep.equal({ accepted: wanted, codes: [code] });
  });

  it("give a user a wallet, also with the first of many mints", async () => {
    const answers = await send("/v1/accounts", { user_identifier: "one" }, 20);
    expect(answers.filter((answer) => answer.status === 200)).to.have.length(1);
    const body = { collection_address: erc1155, token_id: 1, quantity: 1, to_user: "two" };
    expect(await race("/v1/nfts", body, 20)).to.deep.equal({ accepted: 20, codes: [] });
    const { address } = await clients[0]!.ok<{ address: string }>("GET", "/v1/accounts/user/two");
    const commands = await rawSql(moneta.databaseUrl, "select command from requests where type = 'mint'");
    const to = commands.map(({ command }) => (JSON.parse(String(command)) as { to: string }).to);
    expect(to.filter((one) => one === address)).to.have.length(20);
  });

  for (const [path, body] of [
    ["/v1/accounts", () => ({ user_identifier: "again" })],
    ["/v1/collections", () => ({ type: "ERC721", name: "Again", symbol: "AGN" })],
    ["/v1/nfts", () => ({ collection_address: erc1155, initial_owner: wallet, token_id: 3, initial_supply: 1 })],
    [
      "/v1/transfers",
      () => ({ from_address: wallet, to_address: wallet, contract_address: erc1155, token_id: 1, amount: 1 }),
    ],
  ] as const) {
    it(`are one, 50 times over, under one Idempotency-Key: POST ${path}`, async () => {
      const before = await requests();
      const answers = await send(path, body(), 50, { "idempotency-key": `key of ${path}`.replaceAll(" ", "-") });
      expect(new Set(answers.map((answer) => answer.status))).to.deep.equal(new Set([200]));
      expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).to.equal(1);
      expect((await requests()) - before).to.equal(path === "/v1/accounts" ? 0 : 1);
      const id = answers[0]?.body["request_id"];
      if (typeof id === "string") accepted.push(id);
    });
  }

  async function requests(): Promise<number> {
    return (await clients[0]!.ok<{ total: number }>("GET", "/v1/requests")).total;
  }

  it("are refused by both as soon as the token is revoked", async () => {
    const leaving = await createAppIn(moneta.databaseUrl, "leaving");
    const statuses = () =>
      Promise.all(urls.map(async (url) => (await ApiClient.at(url, leaving.token).send("GET", "/v1/accounts")).status));
    expect(await statuses()).to.deep.equal([200, 200]);
    const listed = await jsonOfCli<{ token_id: string }[]>(moneta.env, "token", "list", "leaving");
    await runCli(moneta.env, "token", "revoke", listed[0]?.token_id ?? "");
    expect(await statuses()).to.deep.equal([401, 401]);
  });

  it("are all completed if they were accepted", async () => {
    expect(accepted).to.have.length(2 + 1 + 1 + 3 + 20 + 3);
    const env = { ROLES: "relayer,indexer" };
    await moneta.start(env);
    const ended = await Promise.all(accepted.map((id) => clients[0]!.settled(id)));
    expect(ended.map((request) => request.status)).to.deep.equal(accepted.map(() => "completed"));
  });
});
