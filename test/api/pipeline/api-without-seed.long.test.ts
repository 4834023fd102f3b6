import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";
import { computeAddress, HDNodeWallet, Wallet } from "ethers";

import { createKeyring } from "../../../api/keys/keyring.ts";
import { newSeedPhrase, readSeedFile } from "../../../api/keys/seed-file.ts";
import { createWalletDeriver, WALLETS_ROOT } from "../../../api/keys/wallet-deriver.ts";
import { storedWallets } from "../../../api/store/apps/imported-keys.ts";
import { openExistingDatabase } from "../../../api/store/db/database.ts";
import { foundInMemory } from "../../support/memory.ts";
import type { TestProcess } from "../../support/process.ts";
import { startTestService } from "../../support/service.ts";
import { useService } from "../../support/use-service.ts";
import { importKeys, startImport } from "../cli/support/import-keys.ts";
import { jsonOfCli } from "../cli/support/run.ts";

interface Created {
  xpub: string;
  import_key: string;
  phrase: string;
}

describe("an API process with XPUB and without the seed", () => {
  // The service has other keys than the test keys.
  const moneta = useService({ start: false, proxy: true });
  const { api } = moneta;
  const secretKeys = randomBytes(32).toString("base64");
  let seed: Created;
  let running: TestProcess;

  /** Processes on different machines share the database and the chain, but no folder. */
  const machine = (name: string) => ({
    DATABASE_URL: moneta.databaseUrl,
    DATA_DIR: join(moneta.folder, name),
    PUBLIC_URL: "http://nft.example",
  });
  const signs = () => ({
    ...machine("relayer"),
    SEED_FILE: join(moneta.folder, "created.jwe"),
    SEED_PASSPHRASE: "correct horse battery staple",
  });
  const accepts = () => ({ ...machine("api"), XPUB: seed.xpub, SECRET_KEYS: secretKeys, ROLES: "api,webhooks" });

  /** Imports keys where the seed is not. */
  const operator = () => ({ ...moneta.env, ...machine("operator"), SEED_FILE: join(moneta.folder, "none") });
  const options = () => ["--import-key", seed.import_key];

  /** @returns why a process with these settings does not start. */
  async function refusal(settings: Record<string, string>): Promise<string> {
    const env = { ...moneta.env, ...accepts(), ...settings };
    return startTestService({ rpcUrl: moneta.node.url, dataDir: env.DATA_DIR, env }).then(
      () => "it started",
      (error: unknown) => (error as Error).message,
    );
  }

  before(async () => {
    seed = await jsonOfCli<Created>(signs(), "keys", "create", "--show-phrase");
    expect(await jsonOfCli<Created>(signs(), "keys", "check")).to.include({ xpub: seed.xpub });
    running = await moneta.startProcess(accepts());
  });

  it("creates wallets with the addresses that the seed gives, and no seed", async () => {
    const { address } = await api.ok<{ address: string }>("POST", "/v1/accounts", { user_identifier: "alice" });
    const { path } = createWalletDeriver(seed.xpub).derive(moneta.app.appId, "alice");
    expect(createKeyring(seed.phrase).wallet(path).address).to.equal(address);
    expect(await readdir(join(moneta.folder, "api"))).to.not.include.members(["seed.jwe", "local-secrets.json"]);
  });

  it("accepts what another process with the seed, and without SECRET_KEYS, carries out", async () => {
    const relayer = moneta.spawn({ ...signs(), ROLES: "relayer,indexer" });
    await relayer.printed(/"msg":"serving"/);
    const [from, to] = [await api.wallet(), await api.wallet()];
    const collection = await api.collection({ type: "ERC721" });
    const { nft_token_id: token } = await api.mint(collection, from, { unlockable_content: "treasure" });
    await api.move(collection, Number(token), from, to);
    const { nfts } = await api.ok<{ nfts: { unlockable_content: string }[] }>("GET", `/v1/accounts/${to}`);
    expect(nfts.map((nft) => nft.unlockable_content)).to.deep.equal(["treasure"]);
    expect(existsSync(join(moneta.folder, "relayer", "local-secrets.json"))).to.equal(false);
  });

  it("never has an imported key in its memory, while the wallet is used", async () => {
    const { privateKey, address } = Wallet.createRandom();
    const key = Buffer.from(privateKey.slice(2), "hex");
    expect(await importKeys(operator(), moneta.app.appId, [`ann,${privateKey}`], ...options())).to.include({
      added: 1,
    });
    const collection = await api.collection({ type: "ERC721" });
    const { nft_token_id: token } = await api.completed("/v1/nfts", { collection_address: collection, to_user: "ann" });
    await api.move(collection, Number(token), address, await api.wallet());
    const forms = [key, key.toString("hex"), key.toString("hex").toUpperCase(), key.toString("base64url")];
    // The address is there, so the search finds what is there.
    expect(await foundInMemory(running.pid, [address, ...forms])).to.deep.equal([true, false, false, false, false]);
  });

  it("leaves all keys to whoever has the host of the relayer", async () => {
    const [{ privateKey, address }, derived] = [Wallet.createRandom(), await api.wallet()];
    expect(await importKeys(operator(), moneta.app.appId, [`bob,${privateKey}`], ...options())).to.include({
      added: 1,
    });
    const { SEED_FILE, SEED_PASSPHRASE } = signs();
    const keyring = createKeyring(await readSeedFile(SEED_FILE, SEED_PASSPHRASE));
    const database = await openExistingDatabase(moneta.databaseUrl);
    const wallets = await storedWallets(database.read, [address, derived]).finally(() => database.close());
    const signers = await Promise.all(wallets.map((wallet) => keyring.signer(wallet)));
    const keys = new Map(signers.map((signer) => [signer.address, signer.key.privateKey]));
    expect(keys.get(address)).to.equal(privateKey);
    expect(computeAddress(keys.get(derived) ?? "")).to.equal(derived);
  });

  it("leaves the keys of a table, and no others, to whoever has the operator's machine while it is imported", async () => {
    const [before, now] = [Wallet.createRandom(), Wallet.createRandom()];
    await importKeys(operator(), moneta.app.appId, [`cleo,${before.privateKey}`], ...options());
    // The command has opened the key, and waits for the node.
    const [asked, answer] = [Promise.withResolvers<null>(), Promise.withResolvers<undefined>()];
    moneta.intercept = ({ method, params }) => {
      if (method !== "eth_getCode" || params[0] !== now.address) return undefined;
      asked.resolve(null);
      return answer.promise;
    };
    const rows = `,${now.privateKey}`;
    const child = startImport(operator(), rows, "--app", moneta.app.appId, ...options());
    await asked.promise;
    const texts = [now.privateKey.slice(2), before.privateKey.slice(2), seed.phrase];
    expect(await foundInMemory(child.pid ?? 0, texts)).to.deep.equal([true, false, false]);
    answer.resolve(undefined);
    moneta.intercept = null;
    expect(await once(child, "close")).to.deep.equal([0, null]);
  });

  it("does not start with the key of another seed or with a private key, which it does not print", async () => {
    const XPUB = createKeyring(newSeedPhrase()).walletsPublicKey;
    const secret = HDNodeWallet.fromPhrase(seed.phrase, "", WALLETS_ROOT).extendedKey;
    for (const [settings, words] of [
      [{ XPUB }, "XPUB is the key of another seed"],
      [{ XPUB: secret }, "XPUB: must not be an extended private key"],
      [{ ...signs(), ROLES: "relayer", XPUB }, "XPUB does not belong to the seed in SEED_FILE"],
    ] as const) {
      const message = await refusal(settings);
      expect(message).to.contain(words).and.to.not.contain(secret);
    }
  });
});
