import { Writable } from "node:stream";
import { expect } from "chai";
import pino from "pino";

import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { WebhookReceiver } from "../../../scripts/scene/receiver.ts";
import { Foreign } from "../../support/foreign.ts";
import { everythingStored } from "../../support/everything-stored.ts";
import { useService } from "../../support/use-service.ts";
import { runCli } from "../cli/support/run.ts";

const SECRET = "Würfel-7c1f: the key lies under the third stone";

describe("unlockable content on a real node", () => {
  const log: string[] = [];
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      log.push(chunk.toString());
      done();
    },
  });
  // The test searches everything that the service has logged and stored.
  const moneta = useService({ logger: pino({ level: "trace" }, sink) });
  const { api } = moneta;
  let receiver: WebhookReceiver;

  before(async () => {
    receiver = await WebhookReceiver.listen();
    await api.ok("PUT", "/v1/webhook", { url: receiver.url });
  });
  after(() => receiver.close());

  /** Contents of the only token in a wallet; undefined when there is none. */
  const shown = async (wallet: string) => {
    const page = await api.ok<{ nfts: { unlockable_content: string | null }[] }>("GET", `/v1/accounts/${wallet}`);
    return page.nfts[0]?.unlockable_content;
  };
  const mint = async (to: string) => {
    const collection = await api.collection({ type: "ERC721" });
    return { collection, request: await api.mint(collection, to, { name: "Box", unlockable_content: SECRET }) };
  };

  it("is hidden when the token leaves the wallet by an outside transaction", async () => {
    const [alice, outsider] = [await api.wallet(), await moneta.provider.getSigner(3)];
    const { collection } = await mint(alice);
    const contract = ERC721Collection__factory.connect(collection, await moneta.impersonate(alice));
    await (await contract.transferFrom(alice, outsider.address, 1)).wait();
    await eventually(async () => ((await shown(alice)) === undefined ? true : undefined));
    // The content is shown again when the token returns.
    await (await contract.connect(outsider).transferFrom(outsider.address, alice, 1)).wait();
    await eventually(async () => ((await shown(alice)) === SECRET ? true : undefined));
  });

  it("of a failed mint is shown to nobody", async () => {
    const collection = await api.collection({ type: "ERC721" });
    const to_address = await new Foreign(moneta).rejecting();
    const fields = { collection_address: collection, to_address, unlockable_content: SECRET };
    expect(await api.done("/v1/nfts", fields)).to.include({ status: "failed" });
    const next = await api.wallet();
    await api.mint(collection, next);
    expect(await shown(next)).to.equal(null);
  });

  it("is shown in the holder's listing and nowhere else", async () => {
    const alice = await api.wallet();
    const { collection, request } = await mint(alice);
    const wrong = { collection_address: collection, to_address: alice, unlockable_content: [SECRET] };
    const refusals = [
      await api.send("POST", "/v1/nfts", wrong),
      await api.send("POST", "/v1/nfts", { ...wrong, unlockable_content: SECRET, quantity: 1 }),
      await api.send("POST", "/v1/nfts", { ...wrong, unlockable_content: `${SECRET}${"x".repeat(70_000)}` }),
    ];
    expect(refusals.map((refusal) => refusal.status)).to.deep.equal([422, 422, 422]);
    const paths = [
      `/v1/accounts/${alice}/history`,
      "/v1/accounts",
      "/v1/collections",
      `/v1/collections/${collection}`,
      `/v1/collections/${collection}/1`,
      `/v1/collections/${collection}/1/history`,
      `/v1/requests/${request.request_id}`,
      "/v1/requests",
      "/v1/events",
      "/v1/webhook/deliveries",
      `/metadata/31337/${collection}`,
      `/metadata/31337/${collection}/1`,
    ];
    const answers = await Promise.all(paths.map((path) => api.ok("GET", path)));
    await receiver.received(
      (call) => call.body["request_id"] === request.request_id && call.body["type"] === "completed",
    );
    const said = [...answers, refusals, receiver.calls, await commandLine(request.request_id)];
    for (const text of [JSON.stringify(said), log.join("")]) expect(text).to.not.contain("third stone");
    expect(log.length).to.be.greaterThan(20);
    for (const rest of ["", `/${collection}`, `/${collection}/1`]) {
      const page = await api.ok<{ nfts: { unlockable_content: string }[] }>("GET", `/v1/accounts/${alice}${rest}`);
      expect(page.nfts.map((nft) => nft.unlockable_content)).to.deep.equal([SECRET]);
    }
  });

  it("is stored only encrypted", async () => {
    await mint(await api.wallet());
    const { unlockable } = await moneta.service.database.read
      .selectFrom("requests")
      .select("unlockable")
      .where("unlockable", "is not", null)
      .orderBy("seq", "desc")
      .limit(1)
      .executeTakeFirstOrThrow();
    expect(unlockable?.split(".")).to.have.length(5);
    const stored = await everythingStored(moneta);
    expect(stored.filter(({ bytes }) => bytes.includes(unlockable ?? "")).map(({ name }) => name)).to.include(
      "requests",
    );
    for (const { name, bytes } of stored) {
      for (const part of ["third stone", Buffer.from("third stone").toString("base64url").slice(0, 12)]) {
        expect(bytes.includes(part), name).to.equal(false);
      }
    }
  });

  async function commandLine(requestId: string): Promise<string> {
    const outputs = [];
    for (const words of [["show", requestId], ["list"]])
      outputs.push((await runCli(moneta.env, "request", ...words, "--json")).output);
    return outputs.join("");
  }
});
