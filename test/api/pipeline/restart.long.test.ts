import { expect } from "chai";

import { freePort } from "../../../scripts/scene/loopback.ts";
import { startRpcProxy } from "../../../scripts/scene/rpc-proxy.ts";
import { TEST_ENGINE } from "../../support/engine.ts";
import { mintImage } from "../../support/mint-image.ts";
import { useService } from "../../support/use-service.ts";

const WITHOUT_IPFS_PACKAGES = ["--import", "./test/support/without-ipfs-packages.mjs"];
const PRINT_CONNECTIONS = ["--import", "./test/support/print-connections.mjs"];

describe("npm run api", () => {
  // Processes, as an operator starts and stops them. Other tests import packages in this one, and leave connections behind.
  const moneta = useService({ start: false });
  const { api } = moneta;

  it("keeps every wallet, request and listing when it is stopped and started against the same node", async () => {
    const first = await moneta.startProcess();
    const [from, to] = [await api.wallet(), await api.wallet()];
    const collection = await api.collection({ type: "ERC721", mint_supply_count: 5 });
    await api.mint(collection, from, { unlockable_content: "secret" });
    await api.move(collection, 1, from, to);
    const paths = [
      "/v1/accounts",
      `/v1/accounts/${from}`,
      `/v1/accounts/${to}`,
      `/v1/accounts/${to}/history`,
      "/v1/collections",
      `/v1/collections/${collection}`,
      `/v1/collections/${collection}/1`,
      `/v1/collections/${collection}/1/history`,
      "/v1/requests",
    ];
    const read = () => Promise.all(paths.map((path) => api.ok("GET", path)));
    const before = await read();
    expect(await first.end("SIGTERM")).to.equal(0);

    const second = await moneta.startProcess();
    expect(await read()).to.deep.equal(before);
    await api.mint(collection, from);
    expect(await second.end("SIGINT")).to.equal(0);
  });

  it("connects only to the chain's node and the database, and needs no IPFS package, with hosted media and a freeze", async () => {
    const process = await moneta.startProcess({}, [...WITHOUT_IPFS_PACKAGES, ...PRINT_CONNECTIONS]);
    const collection = await api.collection({ type: "ERC721" });
    await mintImage(api, collection, "data:,GIF89a");
    await api.completed(`/v1/collections/${collection}/freeze`, {});
    expect(await process.end("SIGTERM")).to.equal(0);
    expect(process.output).to.not.contain("imported the package");
    const targets = new Set([...process.output.matchAll(/^connects to (.*)\.$/gm)].map(([, target]) => target));
    const expected = [moneta.node.url, ...(TEST_ENGINE === "postgres" ? [moneta.databaseUrl] : [])];
    expect([...targets]).to.have.members(expected.map((url) => new URL(url).host));
  });

  it("says what to install when IPFS_LISTEN is set and the packages are not there", async () => {
    const settings = { IPFS_LISTEN: "/ip4/127.0.0.1/tcp/0", IPFS_BOOTSTRAP: "none" };
    const process = moneta.spawn(settings, WITHOUT_IPFS_PACKAGES);
    expect(await process.gone()).to.equal(1);
    expect(process.output).to.contain("imported the package");
    expect(process.output).to.contain("install the packages again as docs/install.md says, or unset IPFS_LISTEN");
  });

  it("refuses to start with another chain, another seed, wrong settings or a silent node, and says what to do", async () => {
    const latest = (await moneta.provider.send("eth_getBlockByNumber", ["latest", false])) as object;
    const other = await startRpcProxy(moneta.node.url);
    other.intercept = ({ method, params }) =>
      method === "eth_getBlockByNumber" && params[0] === "0x0" ? { result: { ...latest, number: "0x0" } } : undefined;
    try {
      for (const [settings, ...words] of [
        [{ RPC_URL: other.url }, /The database \S+ belongs to another chain/, /Set RPC_URL .* or use a new database/],
        [{ SEED_FILE: `${moneta.folder}/other-seed.jwe` }, /SEED_FILE holds another seed/],
        [{ PORT: "many", LANES: "0", DATABASE_URL: "mysql://x" }, /- PORT/, /- LANES/, /- DATABASE_URL/],
        [{ RPC_URL: `http://127.0.0.1:${(await freePort()).toString()}` }, /The chain node at RPC_URL does not answer/],
      ] as [Record<string, string>, ...RegExp[]][]) {
        const refused = moneta.spawn(settings);
        expect(await refused.gone()).to.equal(1);
        for (const pattern of words) expect(refused.output).to.match(pattern);
      }
    } finally {
      await other.stop();
    }
  });
});
