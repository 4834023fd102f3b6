import { Readable } from "node:stream";

import { expect } from "chai";
import { parseEther, toQuantity, Transaction, Wallet, ZeroAddress } from "ethers";

import { answerOf } from "../../../client/client.ts";
import { RejectingReceiver__factory } from "../../../types/ethers-contracts/factories/mocks/RejectingReceiver__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { Foreign } from "../../support/foreign.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

interface Withdrawn {
  wallet: string;
  to: string;
  value_wei: string;
  transaction_hash: string;
  nonce: number;
  status: string;
}

const COINS = parseEther("0.5");

describe("command line: wallet withdraw", () => {
  const moneta = useService();
  const { api } = moneta;
  const foreign = new Foreign(moneta);
  const { address: TO } = Wallet.createRandom();

  async function funded(coins = COINS): Promise<string> {
    const wallet = await api.wallet();
    await moneta.fund(wallet, coins);
    return wallet;
  }
  const withdraw = (wallet: string, ...options: string[]) =>
    jsonOfCli<Withdrawn>(moneta.env, "wallet", "withdraw", wallet, "--to", TO, "--yes", ...options);
  const refusal = async (wallet: string, ...options: string[]) =>
    (await rejectionOf(withdraw(wallet, ...options))).message;
  const run = (...words: string[]) => runCli(moneta.env, "wallet", "withdraw", ...words);
  const requestOf = (id: string) =>
    answerOf(api.client.GET("/v1/requests/{request_id}", { params: { path: { request_id: id } } }));
  const balance = (address: string) => moneta.provider.getBalance(address);
  const rowsOf = (wallet: string) =>
    moneta.service.database.read.selectFrom("withdrawals").selectAll().where("wallet", "=", wallet).execute();
  /** By hash. */
  const endOf = async (wallet: string) =>
    Object.fromEntries((await rowsOf(wallet)).map(({ hash, status }) => [hash, status]));
  /** Sends nothing on. */
  const loseBytes = () => {
    const lost: string[] = [];
    moneta.intercept = ({ method, params }) => {
      if (method !== "eth_sendRawTransaction") return undefined;
      lost.push(String(params[0]));
      return { error: { code: -32_000, message: "try again later" } };
    };
    return lost;
  };

  it("moves all that the gas leaves, and a rest that the gas did not use stays", async () => {
    const [wallet, before] = [await funded(), await balance(TO)];
    const done = await withdraw(wallet);
    expect(done).to.include({ wallet, to: TO, nonce: 0, status: "sent" });
    expect((await balance(TO)) - before).to.equal(BigInt(done.value_wei));
    expect(BigInt(done.value_wei)).to.be.above((COINS * 99n) / 100n);
    const receipt = await moneta.provider.getTransactionReceipt(done.transaction_hash);
    expect(await balance(wallet)).to.equal(COINS - BigInt(done.value_wei) - (receipt?.fee ?? 0n));
  });

  it("moves what comes later, too", async () => {
    const wallet = await funded();
    await withdraw(wallet);
    await moneta.fund(wallet, COINS);
    expect(await withdraw(wallet)).to.include({ nonce: 1, status: "sent" });
  });

  it("works for a wallet that has delegated, and the wallet can transfer after it", async () => {
    const [wallet, to] = [await funded(), await api.wallet()];
    const { contract, address } = await foreign.plain(wallet, 1, 2);
    await api.move(address, 1, wallet, to);
    expect(await moneta.provider.getCode(wallet)).to.match(/^0xef0100/);
    expect(await withdraw(wallet)).to.include({ nonce: 1, status: "sent" });
    await api.move(address, 2, wallet, to);
    expect(await contract.ownerOf(2)).to.equal(to);
  });

  it("works before the wallet delegates: its authorization has the next nonce", async () => {
    const [wallet, to] = [await funded(), await api.wallet()];
    await withdraw(wallet);
    const { contract, address } = await foreign.plain(wallet, 1, 2);
    for (const id of [1, 2]) await api.move(address, id, wallet, to);
    for (const id of [1, 2]) expect(await contract.ownerOf(id)).to.equal(to);
    expect(await moneta.provider.getTransactionCount(wallet)).to.equal(2);
  });

  it("continues what was recorded and never sent, with the same bytes, and holds the wallet's requests back until then", async () => {
    const [wallet, to] = [await funded(), await api.wallet()];
    const { contract, address } = await foreign.plain(wallet, 1);
    const lost = loseBytes();
    const first = await withdraw(wallet, "--wait", "1");
    expect(first.status).to.equal("open");
    expect(lost).to.have.length(1);
    moneta.intercept = null;
    const body = { from_address: wallet, to_address: to, contract_address: address, token_id: 1 };
    const id = await api.accept("/v1/transfers", body);
    await eventually(async () => ((await requestOf(id)).waiting_for === "withdrawal" ? true : undefined));
    expect(await contract.ownerOf(1)).to.equal(wallet);
    expect((await rejectionOf(run(wallet, "--to", to, "--yes"))).message).to.match(
      /another withdrawal, which is not final/,
    );
    const second = await withdraw(wallet);
    expect(second).to.deep.equal({ ...first, status: "sent" });
    expect(await rowsOf(wallet)).to.have.length(1);
    expect(await api.settled(id)).to.include({ status: "completed" });
    expect(await contract.ownerOf(1)).to.equal(to);
  });

  it("is ended by the relayer when nobody runs the command again", async () => {
    const [wallet, to] = [await funded(), await api.wallet()];
    const { address } = await foreign.plain(wallet, 1);
    const lost = loseBytes();
    await withdraw(wallet, "--wait", "1");
    moneta.intercept = null;
    await moneta.provider.send("eth_sendRawTransaction", [lost[0]]);
    await api.move(address, 1, wallet, to);
    expect((await rowsOf(wallet)).map(({ status }) => status)).to.deep.equal(["sent"]);
  });

  it("begins another one to another receiver when the first has become final without the command", async () => {
    const [wallet, other] = [await funded(), Wallet.createRandom().address];
    const lost = loseBytes();
    const first = await withdraw(wallet, "--wait", "1");
    moneta.intercept = null;
    await moneta.provider.send("eth_sendRawTransaction", [lost[0]]);
    await moneta.caughtUp();
    await moneta.fund(wallet, COINS);
    const second = await jsonOfCli<Withdrawn>(moneta.env, "wallet", "withdraw", wallet, "--to", other, "--yes");
    expect(second).to.include({ to: other, nonce: 1, status: "sent" });
    expect(await balance(other)).to.equal(BigInt(second.value_wei));
    expect(await endOf(wallet)).to.deep.equal({ [first.transaction_hash]: "sent", [second.transaction_hash]: "sent" });
  });

  it("holds back only its own wallet's requests when the node does not have the state of the final block", async () => {
    const [wallet, other, to] = [await funded(), await api.wallet(), await api.wallet()];
    const [own, others] = [await foreign.plain(wallet, 1), await foreign.plain(other, 1)];
    loseBytes();
    await withdraw(wallet, "--wait", "1");
    moneta.intercept = ({ method, params }) =>
      method === "eth_getTransactionCount" && /^0x/.test(String(params[1]))
        ? { error: { code: -32_000, message: "missing trie node" } }
        : undefined;
    const body = { from_address: wallet, to_address: to, contract_address: own.address, token_id: 1 };
    const id = await api.accept("/v1/transfers", body);
    await eventually(async () => ((await requestOf(id)).waiting_for === "withdrawal" ? true : undefined));
    await api.move(others.address, 1, other, to);
    moneta.intercept = null;
    expect(await withdraw(wallet)).to.include({ status: "sent" });
    expect(await api.settled(id)).to.include({ status: "completed" });
  });

  it("is refused while a request of the wallet is being sent, and leaves nothing behind", async () => {
    const [wallet, to] = [await funded(), await api.wallet()];
    const { contract, address } = await foreign.plain(wallet, 1);
    loseBytes();
    const id = await api.accept("/v1/transfers", {
      from_address: wallet,
      to_address: to,
      contract_address: address,
      token_id: 1,
    });
    await eventually(async () => ((await requestOf(id)).status === "processing" ? true : undefined));
    expect(await refusal(wallet)).to.include(`Request ${id} of the wallet is being sent`);
    expect(await rowsOf(wallet)).to.deep.equal([]);
    moneta.intercept = null;
    expect(await api.settled(id)).to.include({ status: "completed" });
    expect(await contract.ownerOf(1)).to.equal(to);
    expect(await withdraw(wallet)).to.include({ nonce: 1, status: "sent" });
  });

  it("says that another transaction has used the nonce, and can be run again", async () => {
    const wallet = await funded();
    loseBytes();
    const first = await withdraw(wallet, "--wait", "1");
    moneta.intercept = null;
    await moneta.provider.send("hardhat_setNonce", [wallet, "0x5"]);
    await moneta.provider.send("hardhat_mine", ["0x1"]);
    await moneta.caughtUp();
    const second = await withdraw(wallet);
    expect(second).to.include({ nonce: 5, status: "sent" });
    expect(second.transaction_hash).to.not.equal(first.transaction_hash);
    expect((await rowsOf(wallet)).map(({ status }) => status)).to.have.members(["replaced", "sent"]);
  });

  /** From now on, nodes ask for this much more above the base fee than the first withdrawal offered. */
  const raiseTip = (bytes: string | undefined) => {
    const asked = 3n * (Transaction.from(bytes).maxPriorityFeePerGas ?? 0n);
    moneta.intercept = ({ method }) =>
      method === "eth_maxPriorityFeePerGas" ? { result: toQuantity(asked) } : undefined;
  };

  it("is signed again, with the same nonce and higher fees, when gas costs more", async () => {
    const wallet = await funded();
    const lost = loseBytes();
    const first = await withdraw(wallet, "--wait", "1");
    raiseTip(lost[0]);
    const second = await withdraw(wallet);
    expect(second).to.include({ to: TO, nonce: first.nonce, status: "sent" });
    const [before, after] = [Transaction.from(lost[0]), await moneta.provider.getTransaction(second.transaction_hash)];
    for (const field of ["maxFeePerGas", "maxPriorityFeePerGas"] as const)
      expect((after?.[field] ?? 0n) * 10n >= (before[field] ?? 0n) * 11n, field).to.equal(true);
    expect(await endOf(wallet)).to.deep.equal({
      [first.transaction_hash]: "replaced",
      [second.transaction_hash]: "sent",
    });
  });

  it("is sent once, and says which version was, when the chain takes an earlier one", async () => {
    const [wallet, before] = [await funded(), await balance(TO)];
    const lost = loseBytes();
    const first = await withdraw(wallet, "--wait", "1");
    const loses = moneta.intercept;
    raiseTip(lost[0]);
    const costs = moneta.intercept;
    moneta.intercept = async (call) => (await loses?.(call)) ?? costs?.(call);
    const second = await withdraw(wallet, "--wait", "1");
    expect(second).to.include({ nonce: first.nonce, status: "open" });
    expect(lost).to.have.length(2);
    moneta.intercept = null;
    await moneta.provider.send("eth_sendRawTransaction", [lost[0]]);
    await moneta.caughtUp();
    expect(await withdraw(wallet)).to.deep.equal({ ...first, status: "sent" });
    expect((await balance(TO)) - before).to.equal(BigInt(first.value_wei));
    expect(await endOf(wallet)).to.deep.equal({
      [first.transaction_hash]: "sent",
      [second.transaction_hash]: "replaced",
    });
  });

  it("is signed again when the wallet cannot pay it any more", async () => {
    const wallet = await funded();
    loseBytes();
    const first = await withdraw(wallet, "--wait", "1");
    moneta.intercept = null;
    // As after a reorg without the transaction that brought the coins.
    await moneta.provider.send("hardhat_setBalance", [wallet, toQuantity(COINS / 2n)]);
    const second = await withdraw(wallet);
    expect(second).to.include({ nonce: first.nonce, status: "sent" });
    expect(BigInt(second.value_wei)).to.be.below(COINS / 2n);
  });

  it("says that gas costs too much, and keeps what it has recorded", async () => {
    const wallet = await funded();
    const lost = loseBytes();
    const first = await withdraw(wallet, "--wait", "1");
    moneta.intercept = ({ method }) =>
      method === "eth_maxPriorityFeePerGas" ? { result: toQuantity(10n ** 13n) } : undefined;
    expect(await refusal(wallet)).to.match(/Gas costs more than MAX_FEE_GWEI allows/);
    expect(await endOf(wallet)).to.deep.equal({ [first.transaction_hash]: "open" });
    expect(lost).to.have.length(1);
    moneta.intercept = null;
    expect(await withdraw(wallet)).to.deep.equal({ ...first, status: "sent" });
  });

  it("refuses what cannot work, and signs nothing", async () => {
    const wallet = await funded();
    const empty = await api.wallet();
    expect(await refusal(empty)).to.match(/The wallet has 0.0 ether.*nothing is left to send/);
    expect(await refusal(TO)).to.match(/is not a wallet of this service/);
    const refused = (...words: string[]) => rejectionOf(run(...words));
    expect((await refused(wallet, "--to", wallet, "--yes")).message).to.match(/is the wallet itself/);
    expect((await refused(wallet, "--to", TO)).message).to.match(/^Nothing was sent: 0\.\d+ ether from .*add --yes/);
    const typo = TO.replace(/[a-f]/, (letter) => letter.toUpperCase());
    expect((await refused(wallet, "--to", typo, "--yes")).message).to.match(/checksum is wrong/);
    expect((await refused(wallet, "--to", ZeroAddress, "--yes")).message).to.match(/zero address/);
    const refuses = await new RejectingReceiver__factory(await foreign.signer()).deploy();
    expect((await refused(wallet, "--to", await refuses.getAddress(), "--yes")).message).to.match(/would fail/);
    for (const one of [wallet, empty]) expect(await rowsOf(one)).to.deep.equal([]);
    expect(await balance(wallet)).to.equal(COINS);
  });

  it("asks before it signs", async () => {
    const wallet = await funded();
    const { createProgram } = await import("../../../api/cli/program.ts");
    const asked: string[] = [];
    const terminal = {
      env: moneta.env,
      input: Readable.from([]),
      write: () => undefined,
      ask: (question: string) => {
        asked.push(question);
        return Promise.resolve(asked.length === 1 ? "y" : "yes");
      },
    };
    const run = async () => {
      const words = ["wallet", "withdraw", wallet, "--to", TO.toLowerCase()];
      await (await createProgram(terminal, words)).parseAsync(words, { from: "user" });
    };
    expect((await rejectionOf(run())).message).to.match(/Nothing was sent/);
    await run();
    expect(asked[0]).to.include(`from ${wallet} to ${TO}`);
    expect((await rowsOf(wallet)).map(({ status }) => status)).to.deep.equal(["sent"]);
  });
});
