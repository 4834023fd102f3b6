import { expect } from "chai";

import { answerOf, type Client, createClient } from "../../client/client.ts";
import { ApiRefusal, RequestFailed, RequestTimeout } from "../../client/errors.ts";
import { checkedFetch } from "../support/conformance.ts";
import { useService } from "../support/use-service.ts";
import { rejectionOf } from "../support/rejection.ts";

describe("helpers of the client", () => {
  const moneta = useService();
  let client: Client;
  let collection: string;
  let alice: string;
  const calls: string[] = [];
  before(async () => {
    const checked = checkedFetch(moneta.baseUrl);
    const fetch = (request: Request) => {
      calls.push(`${request.method} ${new URL(request.url).pathname}`);
      return checked(request);
    };
    client = createClient({ baseUrl: moneta.baseUrl, token: moneta.app.token, fetch });
    collection = await moneta.api.collection({ type: "ERC721", mint_supply_count: 10 });
    alice = await moneta.api.wallet();
  });
  beforeEach(() => {
    calls.length = 0;
  });

  describe("mintAndWait", () => {
    it("resolves to the request with the token, without a cast", async () => {
      const request = await client.mintAndWait({ collection_address: collection, to_address: alice });
      const tokenId: number | string = request.nft_token_id;
      const [minted, kind]: [string, "mint"] = [request.nft_collection, request.type];
      expect({ minted, kind, tokenId }).to.deep.equal({ minted: collection, kind: "mint", tokenId: 1 });
      expect(request.status).to.equal("completed");
    });

    it("passes the warnings of the call on", async () => {
      const mint = { collection_address: collection, to_address: alice };
      const { warnings } = await client.mintAndWait({ ...mint, image: "data:image/svg+xml,<svg fill='#f00'/>" });
      expect(warnings?.map(({ field, code }) => [field, code])).to.deep.equal([["image", "unescaped_hash"]]);
      expect(await client.mintAndWait(mint)).to.not.have.property("warnings");
    });

    it("throws ApiRefusal when the service refuses the mint, and RequestFailed with the reason when it fails", async () => {
      const refused = await rejectionOf(client.mintAndWait({ collection_address: collection }));
      expect(refused).to.be.instanceOf(ApiRefusal).and.to.have.property("errorCode", "validation_failed");
      const body = {
        collection_address: collection,
        to_address: alice,
        image: "http://192.168.1.1/picture.png",
        copy_media: true,
      };
      const failed = await rejectionOf(client.mintAndWait(body));
      expect(failed).to.be.instanceOf(RequestFailed).and.to.have.property("errorCode", "media_blocked");
      expect(failed.message).to.match(/failed: media_blocked: The media is at .* ALLOWED_PRIVATE_HOSTS/);
    });

    it("ends at its timeout and when it is aborted", async () => {
      const body = { collection_address: collection, to_address: alice };
      const late = await rejectionOf(client.mintAndWait(body, { timeout: 1, interval: 1_000 }));
      expect(late).to.be.instanceOf(RequestTimeout);
      const aborting = new AbortController();
      const waiting = rejectionOf(client.mintAndWait(body, { signal: aborting.signal, interval: 60_000 }));
      aborting.abort(new Error("enough"));
      expect(await waiting).to.have.property("message", "enough");
    });
  });

  describe("waitFor with a type", () => {
    it("has the fields of the type, and refuses another one", async () => {
      const body = { type: "ERC1155" as const, name: "Gems", symbol: "GEM" };
      const { request_id: id } = await answerOf(client.POST("/v1/collections", { body }));
      const { nft_collection: created } = await client.waitFor(id, { type: "collection" });
      expect(created.toLowerCase()).to.match(/^0x[0-9a-f]{40}$/);
      const wrong = await rejectionOf(client.waitFor(id, { type: "mint" }));
      expect(wrong).to.be.instanceOf(TypeError);
      expect(wrong.message).to.contain('has the type "collection", not "mint"');
      const request = await client.waitFor(id);
      if (request.type !== "collection") throw new Error("another type");
      expect(request.nft_collection satisfies string).to.equal(created);
    });
  });

  describe("getOrCreateWallet", () => {
    it("creates the wallet of a user once, and finds it afterwards", async () => {
      const wallet = await client.getOrCreateWallet("dora / é");
      expect(wallet.user_identifier).to.equal("dora / é");
      calls.length = 0;
      expect(await client.getOrCreateWallet("dora / é")).to.deep.equal(wallet);
      expect(calls).to.deep.equal(["GET /v1/accounts/user/dora%20%2F%20%C3%A9"]);
    });

    it("gives the same wallet to calls at the same time", async () => {
      // No call goes on before each of them has learnt that the wallet does not exist, so that all five create it.
      const looks = Array.from({ length: 5 }, () => Promise.withResolvers<null>());
      let [looked, created] = [0, 0];
      const fetch = async (request: Request) => {
        const answer = await globalThis.fetch(request);
        if (request.method === "POST") created++;
        else if (looked < looks.length) {
          looks[looked++]?.resolve(null);
          await Promise.all(looks.map(({ promise }) => promise));
        }
        return answer;
      };
      const together = createClient({ baseUrl: moneta.baseUrl, token: moneta.app.token, fetch });
      const wallets = await Promise.all(looks.map(() => together.getOrCreateWallet("emil")));
      expect(new Set(wallets.map(({ address }) => address)).size).to.equal(1);
      expect(created).to.equal(5);
    });

    it("throws other refusals, and takes no empty name", async () => {
      const stranger = createClient({ baseUrl: moneta.baseUrl, token: "moneta_unknown" });
      expect(await rejectionOf(stranger.getOrCreateWallet("alice")))
        .to.be.instanceOf(ApiRefusal)
        .and.to.have.property("errorCode", "unauthorized");
      expect(await rejectionOf(client.getOrCreateWallet(""))).to.be.instanceOf(TypeError);
    });
  });

  describe("a new wallet", () => {
    it("needs a body, which may be empty", async () => {
      // @ts-expect-error the body is missing
      expect(await rejectionOf(client.POST("/v1/accounts"))).to.be.instanceOf(TypeError);
      // @ts-expect-error the body is missing
      expect(await rejectionOf(client.POST("/v1/accounts", {}))).to.be.instanceOf(TypeError);
      expect(calls).to.deep.equal([]);
      const { user_identifier: user } = await answerOf(client.POST("/v1/accounts", { body: {} }));
      expect(user).to.equal(null);
    });

    it("is not created for an identifier that is undefined", async () => {
      const users: Record<string, string> = {};
      const body = { user_identifier: users["missing"] } as { user_identifier: string };
      expect(await rejectionOf(client.POST("/v1/accounts", { body }))).to.be.instanceOf(TypeError);
      expect(calls).to.deep.equal([]);
    });
  });
});
