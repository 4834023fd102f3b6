import { expect } from "chai";

import { issueToken, SCOPES } from "../../../api/commands/api-tokens.ts";
import { listApiTokens } from "../../../api/store/apps/api-tokens.ts";
import { conformanceOf, type OpenApiDocument, type Operation } from "../../support/conformance.ts";
import type { Answer } from "../support/api.ts";
import { expectAccepted, expectRefusal } from "../support/expect.ts";
import { addCollection, addMint, addWallet } from "../support/api-rows.ts";
import { resultsOf } from "../support/batches.ts";
import { startSession, type TestSession } from "../support/console.ts";
import { follow } from "../support/follow.ts";
import { randomAddress } from "../support/rows.ts";
import { useApi } from "../support/use-api.ts";

interface DocumentedCall {
  name: string;
  /** Who may call. */
  caller: "any" | "session" | "operator";
  method: string;
  path: string;
}

/** Every call of the document that needs a token or a session. */
function callsOf(document: OpenApiDocument): DocumentedCall[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => operation.security?.length !== 0)
      .map(([method, { operationId, security }]) => ({
        name: operationId ?? "",
        caller: callerOf(security),
        method: method.toUpperCase(),
        path,
      })),
  );
}

function callerOf(security: Operation["security"] = []): DocumentedCall["caller"] {
  const schemes = security.flatMap((one) => Object.keys(one));
  if (schemes.includes("token")) return "any";
  return schemes.includes("session") ? "session" : "operator";
}

/** Names of one resource of each kind: an app's own, or ones that do not exist. */
type Things = Record<
  "wallet" | "collection" | "user" | "request" | "delivery" | "webhook" | "contract" | "apiToken",
  string
>;

/** A call that names resources in its path, its query or its body. */
interface Naming {
  path?: (things: Things) => Record<string, string>;
  query?: (things: Things) => string;
  body?: (things: Things) => object;
  /** Whether the answer is 200, with the error among its results. */
  batch?: boolean;
}

/** What proves who calls. */
type By = "token" | "session";

const DESTINATION = randomAddress();

function wallet({ wallet: address }: Things) {
  return { address };
}

function walletContract({ wallet: address, collection: contract }: Things) {
  return { address, contract_address: contract };
}

function collection({ collection: address }: Things) {
  return { address };
}

function token({ collection: address }: Things) {
  return { address, token_id: "1" };
}

function webhookOf({ webhook: id }: Things) {
  return { id };
}

function mintOf(things: Things) {
  return { collection_address: things.collection, to_address: DESTINATION };
}

function transferOf(things: Things) {
  return {
    from_address: things.wallet,
    to_address: DESTINATION,
    contract_address: things.collection,
    token_id: 1,
  };
}

function checkOf(things: Things) {
  return { contract_address: things.collection, addresses: [things.wallet] };
}

function burnOf(things: Things) {
  return { from_address: things.wallet, contract_address: things.collection, token_id: 1 };
}

function adoptionOf({ collection: address }: Things) {
  return { address, nonce: `0x${"00".repeat(32)}`, expiry: Math.floor(Date.now() / 1_000) + 60, signature: "0x01" };
}

/** Calls that name resources. Another app's resources must look as if they did not exist. */
const NAMING: Record<string, Naming> = {
  getAccountOfUser: { path: ({ user }) => ({ user_identifier: user }) },
  listWalletHistory: { path: wallet },
  listContents: { path: wallet },
  listContentsOfContract: { path: walletContract },
  listContentsOfToken: { path: (things) => ({ ...walletContract(things), token_id: "1" }) },
  listNfts: { path: collection },
  getNft: { path: token },
  listTokenHistory: { path: token },
  changeCollection: { path: collection, body: () => ({ description: "Mine now" }) },
  changeToken: { path: token, body: () => ({ name: "Mine now" }) },
  freezeCollection: { path: collection },
  adoptCollection: { body: adoptionOf },
  exportHolders: { query: ({ collection: address }) => `?collection=${address}` },
  retryRequest: { path: ({ request }) => ({ request_id: request }) },
  renameAccount: { path: wallet, body: () => ({ user_identifier: "mine now" }) },
  getRequest: { path: ({ request }) => ({ request_id: request }) },
  deleteContract: { path: ({ contract }) => ({ address: contract }) },
  getDelivery: { path: ({ delivery }) => ({ id: delivery }) },
  redeliver: { path: ({ delivery }) => ({ id: delivery }) },
  getOneWebhook: { path: webhookOf },
  changeWebhook: { path: webhookOf, body: () => ({ url: "https://mine.example/hook" }) },
  deleteOneWebhook: { path: webhookOf },
  testOneWebhook: { path: webhookOf },
  rotateOneSecret: { path: webhookOf },
  listDeliveriesOfOne: { path: webhookOf },
  redeliverFailedOfOne: { path: webhookOf },
  deleteToken: { path: ({ apiToken }) => ({ token_id: apiToken }) },
  mintNft: { body: mintOf },
  mintNfts: { body: (things) => ({ items: [mintOf(things)] }), batch: true },
  transferNft: { body: transferOf },
  transferNfts: { body: (things) => ({ items: [transferOf(things)] }), batch: true },
  checkReceivers: { body: checkOf },
  burnNft: { body: burnOf },
  burnNfts: { body: (things) => ({ items: [burnOf(things)] }), batch: true },
};

/** Calls that name no resource, with a body where they take one. They must read and change only the caller's app. */
const OWN: Record<string, { body?: object }> = {
  createAccount: { body: { user_identifier: "their user" } },
  listAccounts: {},
  uploadMedia: { body: { anything: "is a file" } },
  createCollection: { body: { type: "ERC721", name: "Mine", symbol: "MINE" } },
  listCollections: {},
  // The text follows from the address alone.
  makeAdoptionText: { body: { address: randomAddress() } },
  listContracts: {},
  listRequests: {},
  putWebhook: { body: { url: "https://mine.example/hook" } },
  getWebhook: {},
  testWebhook: {},
  rotateWebhookSecret: {},
  listDeliveries: {},
  redeliverFailed: {},
  listEvents: {},
  exportWallets: {},
  getUsage: {},
  getSummary: {},
  deleteWebhook: {},
  createWebhook: { body: { url: "https://mine.example/hook" } },
  listWebhooks: {},
  listTokens: {},
  createToken: { body: { scopes: ["read"] } },
  getConsoleSession: {},
  deleteConsoleSession: {},
};

describe("isolation of apps", () => {
  const api = useApi();
  let calls: DocumentedCall[];
  let theirs: Things;
  /** Of the first app. */
  let session: TestSession;
  /** Of the other app, with every scope. */
  let otherToken: string;
  const nobodys: Things = {
    wallet: randomAddress(),
    collection: randomAddress(),
    user: "no user",
    request: "0".repeat(64),
    delivery: "999999",
    webhook: "no webhook",
    contract: randomAddress(),
    apiToken: "no token",
  };

  beforeEach(async () => {
    calls = callsOf((await conformanceOf(api.baseUrl)).document);
    await api.call("PUT", "/v1/webhook", { body: { url: "https://hooks.example/secret" } });
    const address = await addWallet(api);
    await api.post("/v1/accounts", { user_identifier: "their user" });
    const contract = await addCollection(api, { name: "Secret collection" });
    await addMint(api, { contract, to: address, tokenId: 1, unlockable: "secret" });
    const followed = await follow(api.database, { app: api.app.id, name: "Secret contract" });
    const request = expectAccepted(
      await api.post("/v1/nfts", { collection_address: contract, to_address: address, name: "secret" }),
    );
    await api.post("/v1/webhook/test", undefined);
    const webhook = await api.post("/v1/webhooks", { url: "https://hooks.example/secret" });
    const [delivery] =
      ((await api.get("/v1/webhook/deliveries")).body as { deliveries?: { id: string }[] }).deliveries ?? [];
    theirs = {
      wallet: address,
      collection: contract,
      user: "their user",
      request,
      delivery: delivery?.id ?? "",
      webhook: webhook.body.id ?? "",
      contract: followed,
      apiToken: (await listApiTokens(api.database.read, api.app.id))[0]?.id ?? "",
    };
    expect(Object.values(theirs)).to.not.include("");
    session = await startSession(api);
    const order = { appId: api.other.id, name: "every scope", scopes: SCOPES, expiresAt: null };
    otherToken = (await issueToken(api, order)).token;
  });

  /** The call with the other app's token or session. Signing out ends a session, so each call has its own. */
  async function callAsOther({ name, caller, method, path }: DocumentedCall, things: Things, by: By): Promise<Answer> {
    const { path: place, query, body } = NAMING[name] ?? {};
    const values = place?.(things) ?? {};
    const filled = path.replace(/\{([a-z_]+)\}/g, (_match, key: string) => encodeURIComponent(values[key] ?? ""));
    const real = filled + (query?.(things) ?? "");
    const sent = body === undefined ? OWN[name]?.body : body(things);
    const options = sent === undefined ? {} : { body: sent };
    if (by === "token" && caller === "any") return api.call(method, real, { token: otherToken, ...options });
    const session = await startSession(api, { appId: api.other.id });
    return session.call(method, real, options);
  }

  /** Everything that the first app can read about itself. */
  async function everythingOfTheirs(): Promise<string[]> {
    const paths = calls
      .filter(({ name, method, caller }) => method === "GET" && caller !== "operator" && OWN[name] !== undefined)
      .map(({ path }) => path);
    expect(paths).to.have.length.above(5);
    const own = [`/v1/accounts/${theirs.wallet}`, `/v1/collections/${theirs.collection}`];
    return Promise.all([...paths, ...own].map(async (path) => (await session.call("GET", path)).text));
  }

  it("is tested for every documented call", () => {
    const ofApps = calls.filter(({ caller }) => caller !== "operator").map(({ name }) => name);
    expect(ofApps.sort()).to.deep.equal([...Object.keys(NAMING), ...Object.keys(OWN)].sort());
    for (const { name, path } of calls) {
      if (path.includes("{")) expect(NAMING[name]?.path, `${name} names things in its path`).to.not.equal(undefined);
    }
  });

  for (const by of ["token", "session"] as const) {
    it(`answers the same bytes for another app's resource as for an unknown one, to a ${by}`, async () => {
      const before = await everythingOfTheirs();
      for (const call of calls.filter(({ name }) => NAMING[name] !== undefined)) {
        const [ofTheirs, ofNobody] = [await callAsOther(call, theirs, by), await callAsOther(call, nobodys, by)];
        if (NAMING[call.name]?.batch === true) expect(resultsOf(ofTheirs)[0], call.name).to.have.property("error_code");
        else expect(ofTheirs.status, call.name).to.be.oneOf([404, 422]);
        expect(visible(ofTheirs), call.name).to.deep.equal(visible(ofNobody));
      }
      expect(await everythingOfTheirs()).to.deep.equal(before);
    });

    it(`shows and changes only the caller's resources in calls without an id, to a ${by}`, async () => {
      const before = await everythingOfTheirs();
      const marks = [...Object.values(theirs), "secret"].filter((mark) => mark.length > 5);
      // In the order of the recipes, which delete resources last.
      for (const own of Object.keys(OWN)) {
        const call = calls.find(({ name }) => name === own)!;
        const answer = await callAsOther(call, nobodys, by);
        // Both apps may use the same user identifier.
        const text = answer.text.replace("their user", "").replaceAll('"secret":', "");
        for (const mark of marks) expect(text, call.name).to.not.include(mark);
        expect(answer.status, `${call.name}: ${answer.text}`).to.equal(200);
      }
      expect(await everythingOfTheirs()).to.deep.equal(before);
    });
  }

  it("refuses an app's session that names another app, and the operator's calls", async () => {
    for (const { name, caller, method, path } of calls) {
      const other = await startSession(api, { appId: api.other.id });
      const named = await other.call(method, path, { headers: { "x-moneta-app": api.app.id } });
      expectRefusal(named, 403, "forbidden");
      if (caller !== "operator") continue;
      for (const answer of [await other.call(method, path), await api.call(method, path)]) {
        expect(answer.status, name).to.equal(403);
      }
    }
  });

  it("keeps the idempotency keys of apps separate", async () => {
    const headers = { "idempotency-key": "same" };
    const first = await api.post("/v1/accounts", {}, { headers });
    const second = await api.post("/v1/accounts", {}, { headers, token: api.other.token });
    expect(second.status).to.equal(200);
    expect(second.body.address).to.not.equal(first.body.address);
  });
});

/** An answer without the headers that differ from call to call. */
function visible({ status, headers, text }: Answer) {
  const changing = ["date", "x-request-id", "ratelimit"];
  return { status, text, headers: [...headers].filter(([name]) => !changing.includes(name)) };
}
