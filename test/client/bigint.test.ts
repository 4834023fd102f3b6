import { readFileSync } from "node:fs";

import { expect } from "chai";

import { parseSettings } from "../../api/config/settings.ts";
import { apiDocument } from "../../api/v1/openapi/document.ts";
import { BulkMint } from "../../client/bulk.ts";
import { newProgress } from "../../client/bulk-progress.ts";
import { answerOf, createClient, type Shape } from "../../client/client.ts";
import { bodyText } from "../../client/rules/exact-json.ts";
import { integerInputs } from "../../scripts/client/types.ts";
import { useService } from "../support/use-service.ts";

const LARGE = 2n ** 256n - 1n;
const DIGITS = LARGE.toString();
const TYPES = readFileSync(new URL("../../client/document.ts", import.meta.url), "utf8");

interface Node {
  $ref?: string;
  type?: string;
  anyOf?: Node[];
  items?: Node;
  properties?: Record<string, Node>;
}
interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  schema: Node;
}
interface Operation {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Node } | undefined> };
}
const document = apiDocument(parseSettings({}));
const inputs = integerInputs(document);

function resolved<T extends { $ref?: string }>(node: T): T {
  const parts = node.$ref?.slice("#/".length).split("/") ?? [];
  return parts.reduce((parent, name) => (parent as unknown as Record<string, T>)[name]!, document as unknown as T);
}

/** The schema of the integer that a value is, or may be. */
function integerOf(node: Node): Node | undefined {
  if (inputs.has(node)) return node;
  return node.anyOf?.map(integerOf).find((one) => one !== undefined);
}

type Place = { in: string; name: string };

/** Where the calls of the document take integers. */
function places() {
  const covered = new Set<object>();
  const found: { method: string; path: string; places: Place[]; batch: boolean }[] = [];
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    for (const [method, { parameters = [], requestBody }] of Object.entries(item as Record<string, Operation>)) {
      const places: Place[] = [];
      const add = (node: Node, place: Place) => {
        const integer = integerOf(node);
        if (integer === undefined) return;
        covered.add(integer);
        places.push(place);
      };
      for (const one of parameters) {
        const { name, in: where, schema } = one.$ref === undefined ? one : resolved(one);
        add(schema, { in: where, name });
      }
      const schema = requestBody?.content["application/json"]?.schema;
      const body = schema === undefined ? {} : schema.$ref === undefined ? schema : resolved(schema);
      const items = body.properties?.["items"]?.items;
      const fields = (items === undefined ? body : resolved(items)).properties ?? {};
      for (const [name, field] of Object.entries(fields)) add(field, { in: "body", name });
      if (places.length > 0) found.push({ method: method.toUpperCase(), path, places, batch: items !== undefined });
    }
  }
  return { found, covered };
}

/** A client that sends nothing, and the URL and body of its last call. */
function recorder() {
  const sent = { url: "", body: "" };
  const client = createClient({
    baseUrl: "http://moneta.test",
    maxRetries: 0,
    fetch: async (request) => {
      sent.url = request.url;
      sent.body = await request.text();
      return Response.json({ request_id: "" });
    },
  });
  return { client, sent };
}

describe("a bigint in a call of the client", () => {
  const { found, covered } = places();

  it("is tried at every integer that the document takes", () => {
    expect(covered.size).to.equal(inputs.size).and.to.be.greaterThan(15);
  });

  for (const { method, path, places: some, batch } of found) {
    it(`keeps its digits in ${method} ${path}: ${some.map(({ name }) => name).join(", ")}`, async () => {
      const { client, sent } = recorder();
      const of = (where: string) =>
        Object.fromEntries(some.filter((one) => one.in === where).map(({ name }) => [name, LARGE]));
      const others = Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, "x"]));
      const body = of("body");
      const call = {
        params: { path: { ...others, ...of("path") }, query: of("query") },
        ...(Object.keys(body).length > 0 && { body: batch ? { items: [body] } : body }),
      };
      await client.request(method.toLowerCase() as "get", path as "/v1/nfts" as never, call as never);
      for (const { in: where, name } of some) {
        if (where === "body") expect(sent.body).to.contain(`"${name}":${DIGITS}`);
        else expect(sent.url).to.contain(where === "query" ? `${name}=${DIGITS}` : `/${DIGITS}`);
      }
    });
  }

  it("is allowed by the types wherever the document takes an integer", () => {
    expect(TYPES.match(/number \| bigint/g)).to.have.length(inputs.size);
    const mint: Shape<"Mint"> = {
      collection_address: "",
      token_id: 1n,
      initial_supply: 2n,
      quantity: 3n,
      decimals: 4n,
    };
    const create: Pick<Shape<"CreateCollection">, "mint_supply_count" | "seller_fee_basis_points"> = {
      mint_supply_count: 1n,
      seller_fee_basis_points: 250n,
    };
    const transfer: Pick<Shape<"Transfer">, "token_id" | "amount"> = { token_id: 1n, amount: 1n };
    expect(bodyText([mint, create, transfer])).to.equal(
      '[{"collection_address":"","token_id":1,"initial_supply":2,"quantity":3,"decimals":4},{"mint_supply_count":1,"seller_fee_basis_points":250},{"token_id":1,"amount":1}]',
    );
  });

  it("is a number at any depth, also below zero, and for programs whose BigInt has a toJSON", () => {
    const prototype = BigInt.prototype as unknown as { toJSON?: () => string };
    prototype.toJSON = function (this: bigint) {
      return this.toString();
    };
    try {
      const body = { attributes: [{ value: LARGE }, { value: -LARGE }, { value: DIGITS }], text: '"1n"' };
      expect(bodyText(body)).to.equal(
        `{"attributes":[{"value":${DIGITS}},{"value":-${DIGITS}},{"value":"${DIGITS}"}],"text":"\\"1n\\""}`,
      );
    } finally {
      delete prototype.toJSON;
    }
  });

  it("is a text in the progress of a bulk mint, which is plain JSON", async () => {
    const { client, sent } = recorder();
    const steps: string[] = [];
    const keep = (progress: unknown) => void steps.push(JSON.stringify(progress));
    const bulk = new BulkMint(client, { progress: newProgress("run"), keep, maxRetries: 0 });
    await bulk.send([{ collection_address: "", token_id: LARGE, quantity: 2n }]).catch(() => undefined);
    const body = `{"collection_address":"","token_id":"${DIGITS}","quantity":"2"}`;
    expect(sent.body).to.equal(`{"items":[${body}]}`);
    expect(steps[0]).to.contain(`"bodies":[${body}]`);
  });

  describe("given a service", () => {
    const moneta = useService();

    it("is the same call as with a number or a text, under one idempotency key", async () => {
      const client = createClient({ baseUrl: moneta.baseUrl, token: moneta.app.token });
      const collection = await moneta.api.collection({ type: "ERC1155" });
      const mint = { collection_address: collection, token_id: LARGE, initial_supply: 3n, to_user: "alice" };
      const request = await client.mintAndWait(mint, { idempotencyKey: "large" });
      expect(request.nft_token_id).to.equal(DIGITS);
      expect((await client.mintAndWait(mint, { idempotencyKey: "large" })).request_id).to.equal(request.request_id);
      const path = { address: collection, token_id: LARGE };
      const query = { limit: 5n, offset: 0n };
      const token = await answerOf(client.GET("/v1/collections/{address}/{token_id}", { params: { path, query } }));
      expect(token).to.include({ token_id: DIGITS, quantity: 3, limit: 5 });
    });
  });
});
