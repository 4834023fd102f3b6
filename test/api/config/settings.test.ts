import { expect } from "chai";
import { HDNodeWallet } from "ethers";

import { DEFAULT_LIMITS } from "../../../api/config/limits.ts";
import { describeSettings } from "../../../api/cli/settings.ts";
import { parseMediaStoreText, parseSettings, pickSettings, SettingsError } from "../../../api/config/settings.ts";
import { VARIABLES } from "../../../api/config/variables.ts";
import { newSeedPhrase } from "../../../api/keys/seed-file.ts";
import { WALLETS_ROOT } from "../../../api/keys/wallet-deriver.ts";

/** Where the service finds others. */
const OTHERS = {
  verification: {
    sourcifyUrl: "https://sourcify.dev/server",
    etherscanUrl: "https://api.etherscan.io/v2/api",
    etherscanKey: null,
  },
  rpcUrl: "http://127.0.0.1:8545",
  rpcUrls: ["http://127.0.0.1:8545"],
  rpcReadOnly: [],
  rpcAgreement: 1,
  verifyReceipts: "auto",
};

describe("settings", () => {
  it("has a default for every setting", () => {
    expect(parseSettings({})).to.deep.equal({
      port: 3000,
      host: "127.0.0.1",
      metricsPort: null,
      pgBin: null,
      metricsHost: "127.0.0.1",
      traces: null,
      publicUrl: "http://localhost:3000",
      explorerUrl: null,
      trustProxy: [],
      ...OTHERS,
      logQueries: { blocks: 500, addresses: 500, topicsAbove: 2_000 },
      dataDir: "data",
      ...{ deploymentsDir: "deployments", allowedContractCode: [] },
      databaseUrl: "file:data/moneta.sqlite",
      databasePool: 10,
      seedFile: "data/seed.jwe",
      seedPassphrase: null,
      xpub: null,
      secretKeys: [],
      lanes: [0],
      leaseSeconds: 15,
      rebroadcastSeconds: 5,
      replaceSeconds: 60,
      maxFeeGwei: 1000,
      appGasPerDay: null,
      blockPollSeconds: null,
      confirmations: null,
      appQuotas: {
        media_bytes: null,
        media_requests: null,
        wallets: null,
        stored_bytes: 1_000_000_000,
        collections: 200,
        mints: null,
        api_tokens: 100,
      },
      allowedPrivateHosts: [],
      mediaStore: { kind: "files" },
      ipfsGateway: null,
      ipfsPinRpc: null,
      ipfsNode: null,
      retain: { days: 30, failedDays: 365 },
      collectMediaHours: 24,
      roles: ["api", "relayer", "indexer", "webhooks", "media", "ipfs"],
      logLevel: "info",
      limits: DEFAULT_LIMITS,
    });
  });

  it("derives defaults from PORT and DATA_DIR", () => {
    const settings = parseSettings({ PORT: "4000", DATA_DIR: "/var/moneta" });
    expect(settings.publicUrl).to.equal("http://localhost:4000");
    expect(settings.databaseUrl).to.equal("file:/var/moneta/moneta.sqlite");
    expect(settings.seedFile).to.equal("/var/moneta/seed.jwe");
  });

  it("parses lists, keys and limits, and ignores a blank variable", () => {
    const key = Buffer.alloc(32, 7);
    const settings = parseSettings({
      ROLES: "relayer, api",
      ALLOWED_PRIVATE_HOSTS: "hooks.local,127.0.0.1",
      SECRET_KEYS: `${key.toString("base64")},${Buffer.alloc(32, 8).toString("hex")}`,
      MAX_FOLLOWED_CONTRACTS: "5",
      LANES: "",
      PUBLIC_URL: "https://nft.example/base/",
    });
    expect(settings.roles).to.deep.equal(["api", "relayer"]);
    expect(settings.allowedPrivateHosts).to.deep.equal(["hooks.local", "127.0.0.1"]);
    expect(settings.secretKeys.map(({ bytes }) => bytes[0])).to.deep.equal([7, 8]);
    expect(settings.secretKeys[0]?.id).to.match(/^[0-9a-f]{8}$/);
    expect(settings.limits).to.deep.equal({ ...DEFAULT_LIMITS, contracts: 5 });
    expect(settings.lanes).to.deep.equal([0]);
    expect(settings.publicUrl).to.equal("https://nft.example/base");
  });

  describe("several nodes", () => {
    const RPC_URLS = "https://a.example/v2/secret, http://b.example/";

    it("keeps their order", () => {
      const { rpcUrl, rpcUrls, rpcReadOnly, rpcAgreement } = parseSettings({
        RPC_URLS,
        RPC_READ_ONLY: "2",
        RPC_AGREEMENT: "2",
      });
      expect([rpcUrl, rpcUrls]).to.deep.equal([
        "https://a.example/v2/secret",
        ["https://a.example/v2/secret", "http://b.example"],
      ]);
      expect(rpcReadOnly).to.deep.equal([2]);
      expect(rpcAgreement).to.equal(2);
    });

    for (const [problem, env, words] of [
      ["RPC_URL is set, too", { RPC_URLS, RPC_URL: "http://c.example" }, "set either this or RPC_URL, not both"],
      ["one is not a URL", { RPC_URLS: "http://a.example,ftp://secret@b.example" }, "number 2 is not one"],
      ["one is empty", { RPC_URLS: "http://a.example,,http://b.example" }, "number 2 is not one"],
      ["a URL comes twice", { RPC_URLS: "http://a.example,http://a.example" }, "must not name a URL twice"],
      ["two URLs mean the same", { RPC_URLS: "http://a.example,http://A.example:80/" }, "must not name a URL twice"],
      [
        "there are too many",
        { RPC_URLS: Array.from({ length: 9 }, (_, i) => `http://n${String(i)}`).join() },
        "1 to 8",
      ],
      ["none may be sent to", { RPC_URLS, RPC_READ_ONLY: "1,2" }, "at least one node must get transactions"],
      ["a number names no node", { RPC_URLS, RPC_READ_ONLY: "3" }, "there are only 2 nodes"],
      ["more must agree than there are", { RPC_URLS, RPC_AGREEMENT: "3" }, "RPC_AGREEMENT: 3 nodes cannot agree"],
      ["none must agree", { RPC_URLS, RPC_AGREEMENT: "0" }, "RPC_AGREEMENT: "],
    ] as const) {
      it(`refuses the list when ${problem}, and never shows a URL`, () => {
        const [found = "", ...more] = problemsOf(env);
        expect(found).to.contain(words).and.not.contain("secret");
        expect(more).to.deep.equal([]);
      });
    }
  });

  it("lists every problem in one error", () => {
    const problems = problemsOf({
      PORT: "70000",
      PUBLIC_URL: "ftp://nft.example",
      RPC_URL: "nowhere",
      LANES: "0",
      CONFIRMATIONS: "two",
      ROLES: "api,cook",
      LOG_LEVEL: "loud",
      SECRET_KEYS: "short",
      MAX_MEDIA_BYTES: "-1",
    });
    expect(problems.map((problem) => problem.split(":")[0])).to.deep.equal([
      "PORT",
      "PUBLIC_URL",
      "RPC_URL",
      "SECRET_KEYS",
      "LANES",
      "CONFIRMATIONS",
      "ROLES",
      "LOG_LEVEL",
      "MAX_MEDIA_BYTES",
    ]);
    expect(problems[6]).to.contain("cook");
  });

  it("accepts addresses, networks and names of ranges as TRUST_PROXY, and nothing else", () => {
    const proxies = ["loopback", "10.0.0.0/8", "2001:db8::1", "192.0.2.7"];
    expect(parseSettings({ TRUST_PROXY: proxies.join(", ") }).trustProxy).to.deep.equal(proxies);
    for (const wrong of ["true", "1", "10.0.0.0/33", "proxy.example"])
      expect(problemsOf({ TRUST_PROXY: `loopback,${wrong}` })[0], wrong).to.contain(`unknown value ${wrong};`);
  });

  it("never prints a secret in an error", () => {
    expect(problemsOf({ SECRET_KEYS: "hunter2" }).join()).to.not.contain("hunter2");
  });

  describe("XPUB", () => {
    const wallets = HDNodeWallet.fromPhrase(newSeedPhrase(), "", WALLETS_ROOT);
    const xpub = wallets.neuter().extendedKey;

    it("is the extended public key of the wallets", () => {
      expect(parseSettings({ XPUB: ` ${xpub} ` }).xpub).to.equal(xpub);
    });

    for (const [what, value, words] of [
      ["an extended private key", wallets.extendedKey, /^XPUB: must not be an extended private key.* Remove it/],
      ["a damaged private key", wallets.extendedKey.slice(0, 50), /^XPUB: must not be an extended private key/],
      [
        "a typing mistake",
        `${xpub.slice(0, -1)}${xpub.endsWith("x") ? "y" : "x"}`,
        /^XPUB: must be an extended public/,
      ],
      ["an address", wallets.address, /^XPUB: must be an extended public key/],
      ["a private key", wallets.privateKey, /^XPUB: must be an extended public key/],
      ["a seed phrase", wallets.mnemonic?.phrase ?? "", /^XPUB: must be an extended public key/],
      [
        "the key of one wallet",
        wallets.derivePath("1/2/3").neuter().extendedKey,
        /^XPUB: is .* another derivation path/,
      ],
    ] as const) {
      it(`rejects ${what}, without printing it`, () => {
        const problems = problemsOf({ XPUB: value });
        expect(problems).to.have.length(1);
        expect(problems[0]).to.match(words).and.not.contain(value);
        expect(problems[0]).to.contain("keys check");
      });
    }
  });

  for (const url of ["postgres://db/moneta", "postgresql://me:secret@db:5433/moneta?sslmode=verify-full"]) {
    it(`accepts ${url}`, () => {
      expect(parseSettings({ DATABASE_URL: url }).databaseUrl).to.equal(url);
    });
  }

  for (const url of ["postgres:moneta", "postgres://me:secret@db", "postgres://me:se/cret@db/moneta", "postgres://"]) {
    it(`rejects ${url} without printing its password`, () => {
      expect(problemsOf({ DATABASE_URL: url })).to.deep.equal([
        "DATABASE_URL: must be postgres://user:password@host:port/database; write special characters of the password as %XX",
      ]);
    });
  }

  it("rejects a public URL with a query or credentials", () => {
    expect(problemsOf({ PUBLIC_URL: "https://nft.example/?x=1" })).to.have.length(1);
    expect(problemsOf({ PUBLIC_URL: "https://me:secret@nft.example" })).to.have.length(1);
  });

  describe("of the built-in IPFS node", () => {
    const peer = "12D3KooWKnDdG3iXw9eTFijk3EWSunZcFi54Zka4wmtqtt6rPxc8";

    it("default to the bootstrap peers of the public network once IPFS_LISTEN is set", () => {
      const { ipfsNode } = parseSettings({ IPFS_LISTEN: "/ip4/0.0.0.0/tcp/4001, /ip6/::/tcp/4001" });
      expect(ipfsNode).to.deep.include({ listen: ["/ip4/0.0.0.0/tcp/4001", "/ip6/::/tcp/4001"], announce: [] });
      expect(ipfsNode?.bootstrap[0]).to.match(/^\/dnsaddr\/bootstrap\.libp2p\.io\/p2p\/Qm/);
      expect(parseSettings({ IPFS_BOOTSTRAP: "none" }).ipfsNode).to.equal(null);
    });

    it("accept other bootstrap peers, or none", () => {
      const env = { IPFS_LISTEN: "/ip4/127.0.0.1/tcp/0", IPFS_ANNOUNCE: "/dns4/nft.example/tcp/4001" };
      const listed = [`/dnsaddr/nft.example/p2p/${peer}`, `/ip6/2600::1/tcp/4001/p2p/${peer}`];
      expect(parseSettings({ ...env, IPFS_BOOTSTRAP: listed.join(",") }).ipfsNode).to.deep.equal({
        listen: ["/ip4/127.0.0.1/tcp/0"],
        announce: ["/dns4/nft.example/tcp/4001"],
        bootstrap: listed,
      });
      expect(parseSettings({ ...env, IPFS_BOOTSTRAP: "none" }).ipfsNode?.bootstrap).to.deep.equal([]);
    });

    for (const [variable, value] of [
      ["IPFS_LISTEN", "0.0.0.0:4001"],
      ["IPFS_LISTEN", "/ip4/0.0.0.0/udp/4001/quic-v1"],
      ["IPFS_LISTEN", "/ip4/0.0.0.0/tcp/65536"],
      ["IPFS_LISTEN", "/ip4/256.0.0.1/tcp/4001"],
      ["IPFS_LISTEN", "/dns4/nft.example/tcp/4001"],
      ["IPFS_LISTEN", "/ip4/127.0.0.1/tcp/4001,none"],
      ["IPFS_LISTEN", ","],
      ["IPFS_ANNOUNCE", "/ip4/1.2.3.4/tcp/0"],
      ["IPFS_ANNOUNCE", `/dns4/${"a.".repeat(126)}aa/tcp/4001`],
      ["IPFS_ANNOUNCE", `/ip4/1.2.3.4/tcp/4001/p2p/${peer}`],
      ["IPFS_BOOTSTRAP", "/ip4/1.2.3.4/tcp/4001"],
      ["IPFS_BOOTSTRAP", "/ip4/1.2.3.4/tcp/4001/p2p/12D3Koo0"],
      ["IPFS_BOOTSTRAP", `/dnsaddr/nft.example/tcp/4001/p2p/${peer}`],
      ["IPFS_BOOTSTRAP", `none,/dnsaddr/nft.example/p2p/${peer}`],
    ] as const) {
      it(`reject ${variable}=${value}`, () => {
        const [problem, ...others] = problemsOf({ [variable]: value });
        expect(problem).to.match(new RegExp(`^${variable}: must `));
        expect(others).to.deep.equal([]);
      });
    }
  });

  it("reads the database settings of the command line even if other settings are invalid", () => {
    expect(pickSettings({ PORT: "wrong", DATA_DIR: "x" }, "databaseUrl")).to.deep.equal({
      databaseUrl: "file:x/moneta.sqlite",
    });
    expect(() => pickSettings({ DATABASE_URL: "mysql://x" }, "databaseUrl")).to.throw(SettingsError);
  });

  it("describes every variable in a sentence", () => {
    const names = describeSettings().map(({ variable }) => variable);
    expect(new Set(names).size).to.equal(names.length);
    expect(names).to.have.members(Object.keys(VARIABLES));
    for (const { description } of describeSettings()) expect(description).to.match(/\.$/);
  });

  it("uses other lanes in the place of RETIRED_LANES", () => {
    expect(parseSettings({ LANES: "3", RETIRED_LANES: "0, 2" }).lanes).to.deep.equal([1, 3, 4]);
    expect(parseSettings({ LANES: "63", RETIRED_LANES: "5" }).lanes).to.have.length(63);
    expect(problemsOf({ LANES: "64", RETIRED_LANES: "5" })).to.deep.equal([
      "LANES: must be at most 63, because RETIRED_LANES names 1 lane",
    ]);
    for (const wrong of ["64", "one", "-1"]) {
      expect(problemsOf({ RETIRED_LANES: wrong })[0], wrong).to.match(
        /^RETIRED_LANES: must be whole numbers from 0 to 63/,
      );
    }
  });

  it("keeps rows forever or for days (RETAIN_DAYS, RETAIN_FAILED_DAYS), and the answer to a batch at least a week", () => {
    const { retain } = parseSettings({ RETAIN_DAYS: "1", RETAIN_FAILED_DAYS: "forever" });
    expect(retain).to.deep.equal({ days: 1, failedDays: null });
    const wrong = (least: number) => `must be forever, or a whole number of days from ${least.toString()} to 36500`;
    const short = { RETAIN_DAYS: "0", RETAIN_FAILED_DAYS: "6" };
    expect(problemsOf(short)).to.deep.equal([`RETAIN_DAYS: ${wrong(1)}`, `RETAIN_FAILED_DAYS: ${wrong(7)}`]);
    for (const text of ["-1", "1.5", "never", "36501"])
      expect(problemsOf({ RETAIN_DAYS: text })).to.deep.equal([`RETAIN_DAYS: ${wrong(1)}`]);
    expect(() => pickSettings({ RETAIN_DAYS: "0" }, "retain")).to.throw(SettingsError, wrong(1));
    expect(pickSettings({ LANES: "wrong" }, "retain").retain).to.deep.equal(parseSettings({}).retain);
  });

  describe("MEDIA_STORE", () => {
    const KEYS = { AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "secret" };

    function bucketOf(text: string, env: Record<string, string> = {}) {
      const setting = parseMediaStoreText({ ...KEYS, ...env }, text);
      return setting.kind === "s3" ? setting.bucket : null;
    }

    it("is files on SQLite and the database on PostgreSQL", () => {
      expect(parseSettings({}).mediaStore).to.deep.equal({ kind: "files" });
      const postgres = parseSettings({ DATABASE_URL: "postgres://moneta@localhost/moneta" });
      expect(postgres.mediaStore).to.deep.equal({ kind: "database" });
    });

    it("reaches AWS by the bucket's host name, and other servers by a path", () => {
      expect(bucketOf("s3://my-bucket/some/where/", { AWS_REGION: "eu-central-1" })).to.deep.equal({
        bucket: "my-bucket",
        prefix: "some/where/",
        endpoint: "https://s3.eu-central-1.amazonaws.com",
        region: "eu-central-1",
        pathStyle: false,
        credentials: { accessKeyId: "key", secretAccessKey: "secret", sessionToken: null },
      });
      expect(bucketOf("s3://my.bucket")).to.include({ prefix: "", region: "us-east-1", pathStyle: true });
      const own = { endpoint: "http://localhost:9000", pathStyle: true };
      expect(bucketOf("s3://my-bucket", { AWS_ENDPOINT_URL_S3: "http://localhost:9000/" })).to.include(own);
      expect(bucketOf("s3://my-bucket?endpoint=https://r2.example&region=auto&style=virtual")).to.include({
        endpoint: "https://r2.example",
        region: "auto",
        pathStyle: false,
      });
    });

    for (const [text, words, env] of [
      ["folder", "must be files, database or s3://<bucket>/<prefix>", KEYS],
      ["s3://B", "a bucket's name has 3 to 63 of", KEYS],
      ["s3://bucket", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", {}],
      ["s3://bucket?zone=1", "has the unknown option zone", KEYS],
      ["s3://bucket?endpoint=ftp://x", "needs an endpoint such as https://host:9000", KEYS],
      ["s3://bucket?style=old", "must be path or virtual", KEYS],
    ] as const)
      it(`refuses ${text}: ${words}`, () => {
        expect(() => parseSettings({ ...env, MEDIA_STORE: text }))
          .to.throw(`MEDIA_STORE: `)
          .with.property("message")
          .that.contains(words);
      });
  });
});

/** What is wrong with these settings. */
function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    parseSettings(env);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}
