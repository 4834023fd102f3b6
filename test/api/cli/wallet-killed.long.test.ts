import { expect } from "chai";
import { parseEther, Transaction, Wallet } from "ethers";

import { TestProcess } from "../../support/process.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli } from "./support/run.ts";

const COINS = parseEther("0.5");

interface Withdrawn {
  value_wei: string;
}

describe("command line: a wallet withdraw that is killed", () => {
  const moneta = useService();
  const { address: TO } = Wallet.createRandom();

  const words = (wallet: string) => ["wallet", "withdraw", wallet, "--to", TO, "--yes"];
  const balance = (address: string) => moneta.provider.getBalance(address);
  const rowsOf = (wallet: string) =>
    moneta.service.database.read
      .selectFrom("withdrawals")
      .select(["hash", "status"])
      .where("wallet", "=", wallet)
      .execute();
  async function funded(): Promise<string> {
    const wallet = await moneta.api.wallet();
    await moneta.fund(wallet, COINS);
    return wallet;
  }

  /** Runs the command in a process, which is killed when its transaction arrives. */
  const killedAt = async (wallet: string, onArrival: (bytes: string) => Promise<unknown>) => {
    const arrived = Promise.withResolvers<string>();
    let killed: TestProcess | null = null;
    moneta.intercept = async ({ method, params }) => {
      const bytes = String(params[0]);
      if (method !== "eth_sendRawTransaction" || Transaction.from(bytes).from !== wallet) return undefined;
      await onArrival(bytes);
      await killed?.end("SIGKILL");
      arrived.resolve(bytes);
      return { error: { code: -32_000, message: "nobody reads this" } };
    };
    killed = new TestProcess(["api/cli/main.ts", ...words(wallet)], moneta.env);
    const bytes = await arrived.promise;
    moneta.intercept = null;
    const { hash } = Transaction.from(bytes);
    expect(await rowsOf(wallet)).to.deep.equal([{ hash, status: "open" }]);
    return hash;
  };

  it("moves the coins once when it is killed after the record and before the broadcast", async () => {
    const [wallet, before] = [await funded(), await balance(TO)];
    const hash = await killedAt(wallet, () => Promise.resolve());
    expect(await balance(wallet)).to.equal(COINS);
    const done = await jsonOfCli<Withdrawn>(moneta.env, ...words(wallet));
    expect(done).to.include({ transaction_hash: hash, nonce: 0, status: "sent" });
    expect((await balance(TO)) - before).to.equal(BigInt(done.value_wei));
    expect(await rowsOf(wallet)).to.deep.equal([{ hash, status: "sent" }]);
  });

  it("moves the coins once when it is killed after the broadcast and before the end is stored", async () => {
    const [wallet, before] = [await funded(), await balance(TO)];
    const hash = await killedAt(wallet, (bytes) => moneta.provider.send("eth_sendRawTransaction", [bytes]));
    await moneta.caughtUp();
    const left = await balance(wallet);
    const done = await jsonOfCli<Withdrawn>(moneta.env, ...words(wallet));
    expect(done).to.include({ transaction_hash: hash, nonce: 0, status: "sent" });
    expect((await balance(TO)) - before).to.equal(BigInt(done.value_wei));
    expect(await balance(wallet)).to.equal(left);
    expect(await moneta.provider.getTransactionCount(wallet)).to.equal(1);
    expect(await rowsOf(wallet)).to.deep.equal([{ hash, status: "sent" }]);
  });
});
