import { expect } from "chai";

import { ERRORS, HTTP_ERROR_CODES, type HttpErrorCode, statusOf } from "../../../api/domain/error-codes.ts";
import { ENDPOINTS } from "../../../api/v1/endpoints.ts";
import { apiDocument } from "../../../api/v1/openapi/document.ts";
import { securityOf } from "../../../api/v1/openapi/security.ts";
import { documentPath } from "../../../api/v1/openapi/operation.ts";
import { Conformance, type OpenApiDocument, type Operation } from "../../support/conformance.ts";
import { PUBLIC_URL } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";

describe("the published document", () => {
  const document = JSON.parse(JSON.stringify(apiDocument({ publicUrl: PUBLIC_URL }))) as Document;
  const conformance = new Conformance(document);
  const api = useApi({ per: "block" });

  it("is served at /openapi.json, to any origin", async () => {
    const answer = await api.get("/openapi.json", { token: null });
    expect(JSON.parse(answer.text)).to.deep.equal(document);
    expect(answer.headers.get("access-control-allow-origin")).to.equal("*");
  });

  it("has a relative server URL with the path of PUBLIC_URL", () => {
    expect(document.servers).to.deep.equal([{ url: "/" }]);
    const deeper = apiDocument({ publicUrl: "https://example.org/nft" });
    expect(deeper.servers).to.deep.equal([{ url: "/nft" }]);
  });

  it("has exactly the endpoints under /v1", () => {
    const documented = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    const served = ENDPOINTS.map(({ method, path }) => `${method} ${documentPath(path)}`);
    expect(documented.filter((call) => call.includes("/v1/")).sort()).to.deep.equal(served.sort());
  });

  it("answers without a place only calls that list nothing", () => {
    const small = ENDPOINTS.filter(({ isSmall }) => isSmall === true);
    expect(small.map(({ name }) => name)).to.deep.equal(["getAccountOfUser", "getRequest"]);
    for (const { method, query } of small) {
      expect(method).to.equal("get");
      expect(query.safeParse({ limit: "1" }).success).to.equal(false);
    }
  });

  it("gives each operation a unique id and its scope", () => {
    const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
    const names = operations.map(({ operationId }) => operationId);
    expect(new Set(names).size).to.equal(operations.length);
    for (const endpoint of ENDPOINTS) {
      const operation = document.paths[documentPath(endpoint.path)]?.[endpoint.method];
      expect(operation?.security, endpoint.path).to.deep.equal(securityOf(endpoint));
    }
  });

  describe("inputs", () => {
    it("all have a bound", () => {
      const unbounded = Object.entries(document.paths).flatMap(([path, item]) =>
        Object.entries(item).flatMap(([method, operation]) =>
          unboundedInputs(document, operation).map((field) => `${method} ${path}: ${field}`),
        ),
      );
      expect(unbounded).to.deep.equal([]);
    });
  });

  for (const endpoint of ENDPOINTS) {
    describe(`${endpoint.method.toUpperCase()} ${documentPath(endpoint.path)}`, () => {
      const operation = document.paths[documentPath(endpoint.path)]?.[endpoint.method];

      it("has an example answer that matches its schema", () => {
        const response = operation?.responses["200"] as {
          content: Record<string, { schema: object; example: unknown }>;
        };
        const type = endpoint.sendsRows === true ? "application/x-ndjson" : "application/json";
        const { schema, example } = response.content[type]!;
        expect(example).to.not.equal(undefined);
        expect(conformance.errorsOf(schema as Record<string, unknown>, example)).to.equal(null);
      });

      const { body } = endpoint;
      if (body === undefined) return;
      it("has example bodies that the service and the document accept", () => {
        const content = operation?.requestBody?.content["application/json"];
        const examples = Object.values(content?.examples ?? {});
        expect(examples).to.not.be.empty;
        for (const { value } of examples) {
          expect(body.safeParse(value).success, JSON.stringify(value)).to.equal(true);
          expect(conformance.errorsOf(content?.schema ?? {}, value)).to.equal(null);
        }
      });
    });
  }

  it("gives every error code its status and a valid example", () => {
    const seen = new Set<string>();
    for (const item of Object.values(document.paths)) {
      for (const operation of Object.values(item)) {
        for (const [status, reference] of Object.entries(operation.responses)) {
          if (Number(status) < 400) continue;
          const { content } = conformance.resolve(reference);
          const { schema, examples } = content!["application/json"] as ErrorContent;
          const codes = schema.properties.error_code.enum;
          for (const code of codes) {
            expect(statusOf(code).toString(), code).to.equal(status);
            expect(conformance.errorsOf(schema, examples[code]?.value)).to.equal(null);
            seen.add(code);
          }
        }
      }
    }
    // Codes that no path can answer, and codes that the HTTP server answers before the routes.
    expect(UNSEEN).to.include.members(HTTP_ERROR_CODES.filter((code) => !seen.has(code)));
  });

  it("has nothing beside a reference that would forbid the fields of the object", () => {
    const texts = [...JSON.stringify(document).matchAll(/\{[^{}]*"\$ref"[^{}]*\}/g)].map(([text]) => text);
    expect(texts).to.not.be.empty;
    expect(texts.filter((text) => text.includes('"additionalProperties"'))).to.deep.equal([]);
  });

  it("has the operations first and the table of error codes last", async () => {
    expect(document.info.description).to.not.contain("| `not_found` |");
    expect(document.tags.at(0)?.name).to.equal("Wallets");
    expect(document.tags.at(-1)?.name).to.equal("Errors");
    expect(Object.keys(document.paths).at(-1)).to.equal("/docs/errors");
    const table = document.paths["/docs/errors"]?.["get"]?.description ?? "";
    const page = await (await fetch(`${api.baseUrl}/docs/errors`)).text();
    for (const [code, { message }] of Object.entries(ERRORS)) {
      const row = table.split("\n").find((line) => line.includes(`| \`${code}\` |`)) ?? "";
      expect(row).to.contain(`| ${message} | [docs/errors#${code}](docs/errors#${code}) |`);
      expect(page).to.contain(`<tr id="${code}">`);
    }
  });

  it("describes each parameter", () => {
    const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
    for (const { operationId, parameters = [] } of operations) {
      for (const parameter of parameters.map((reference) => conformance.resolve(reference as never))) {
        expect(parameter, `a parameter of ${String(operationId)}`).to.have.property("description").that.is.not.empty;
      }
    }
  });

  it("describes each field of a body and of an answer", () => {
    const { components, paths, webhooks } = document;
    expect(fieldsWithoutWords({ components, paths, webhooks }, components)).to.deep.equal([]);
  });

  it("has a type of content that generators of clients know for each answer", () => {
    const known = ["application/json", "application/octet-stream", "application/x-ndjson", "text/html"];
    for (const item of Object.values(document.paths)) {
      for (const { operationId, responses } of Object.values(item)) {
        for (const { content } of Object.values(responses).map((reference) => conformance.resolve(reference))) {
          const types = Object.keys(content ?? {});
          if (types.length > 0) expect(known, operationId).to.include(types[0]);
        }
      }
    }
  });

  it("has an example of each webhook body", () => {
    expect(Object.keys(document.webhooks)).to.have.members(["event", "token", "gap", "test"]);
    for (const { post } of Object.values(document.webhooks)) {
      const content = post.requestBody!.content["application/json"] as unknown as {
        schema: Record<string, unknown>;
        example: unknown;
      };
      expect(content.example).to.not.equal(undefined);
      expect(conformance.errorsOf(content.schema, content.example)).to.equal(null);
    }
  });
});

type Document = OpenApiDocument & {
  info: { description: string };
  servers: unknown;
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation & { description?: string }>>;
  webhooks: Record<string, { post: Operation }>;
};

interface Schema {
  description?: string;
  $ref?: string;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
}

/** Paths of the fields that have no description, neither of their own nor in the schema that they refer to. */
function fieldsWithoutWords(node: unknown, components: OpenApiDocument["components"], place = ""): string[] {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([key, value]: [string, unknown]) => {
    // Examples contain what apps send.
    if (key === "example" || key === "examples" || key === "headers") return [];
    const inside = fieldsWithoutWords(value, components, `${place}/${key}`);
    // A field of a schema may have the name `properties`, too.
    if (key !== "properties" || place.endsWith("/properties")) return inside;
    const silent = Object.entries(value as Record<string, Schema>).filter(([, field]) => !hasWords(field, components));
    return [...silent.map(([name]) => `${place}/${name}`), ...inside];
  });
}

function hasWords({ description, $ref, anyOf = [] }: Schema, components: OpenApiDocument["components"]): boolean {
  const target = $ref === undefined ? undefined : (components.schemas[$ref.split("/").at(-1)!] as Schema);
  return (
    description !== undefined || target?.description !== undefined || anyOf.some((one) => hasWords(one, components))
  );
}

const UNSEEN = [
  "malformed_request",
  "method_not_allowed",
  "request_timeout",
  "expectation_failed",
  "receiver_rejected",
];

interface ErrorContent {
  schema: Record<string, unknown> & { properties: { error_code: { enum: HttpErrorCode[] } } };
  examples: Record<string, { value: unknown }>;
}

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  maxLength?: number;
  maxItems?: number;
  pattern?: string;
  format?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  "x-max-bytes"?: number;
}

/** The parameters and fields of a call that a caller may make as long as the largest body. */
function unboundedInputs(document: Document, operation: Operation): string[] {
  const { parameters = [], requestBody } = operation as {
    parameters?: ({ name: string; schema: Schema } | { $ref: string })[];
    requestBody?: { content: Record<string, { schema: Schema }> };
  };
  const components = document as unknown as { components: Record<string, Record<string, unknown>> };
  const resolve = (ref: string) => components.components[ref.split("/")[2] ?? ""]?.[ref.split("/")[3] ?? ""];
  function walk(schema: Schema, at: string): string[] {
    if (schema.$ref !== undefined) return walk(resolve(schema.$ref) as Schema, at);
    if (schema["x-max-bytes"] !== undefined || schema.enum !== undefined || schema.const !== undefined) return [];
    const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
    if (choices !== undefined) return choices.flatMap((choice) => walk(choice, at));
    if (Array.isArray(schema.type)) return schema.type.flatMap((type) => walk({ ...schema, type }, at));
    switch (schema.type) {
      case "integer":
      case "number":
      case "boolean":
      case "null":
        return [];
      case "string":
        // A file has a limit of its own.
        if (schema.format === "binary") return [];
        return schema.maxLength !== undefined || isBounded(schema.pattern) ? [] : [at];
      case "array":
        return [...(schema.maxItems === undefined ? [at] : []), ...walk(schema.items ?? {}, `${at}[]`)];
      case "object": {
        const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => walk(field, `${at}.${name}`));
        return schema.additionalProperties === false ? fields : [at, ...fields];
      }
      default:
        return [at];
    }
  }
  return [
    ...parameters
      .map((one) => ("$ref" in one ? (resolve(one.$ref) as { name: string; schema: Schema }) : one))
      .flatMap(({ name, schema }) => walk(schema, name)),
    ...Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema }]) => walk(schema, type)),
  ];
}

/** Whether every text that a pattern matches has a bounded length. */
function isBounded(pattern: string | undefined): boolean {
  return pattern !== undefined && /^\^.*\$$/.test(pattern) && !/[*+]|\{\d+,\}/.test(pattern);
}
