import { expect } from "chai";

import { bodyOf } from "../../../console/forms/model/body.ts";
import { fieldsOf } from "../../../console/forms/model/fields.ts";
import { initialValues } from "../../../console/forms/model/values.ts";
import {
  burnVariant,
  type CollectionKind,
  createVariant,
  fieldsOfVariant,
  mintVariant,
  transferVariant,
} from "../../../console/forms/model/variants.ts";
import { createCollectionBody } from "../../../api/v1/schemas/collections.ts";
import { documentOfService } from "./document.ts";

const document = documentOfService();
const KINDS: CollectionKind[] = (["ERC721", "ERC1155"] as const).flatMap((type) =>
  (["hosted", "self-hosted"] as const).map((hosting) => ({ type, hosting })),
);

describe("variants of a form", () => {
  it("name only fields that the schema has", () => {
    const all = {
      "post /v1/nfts": KINDS.flatMap((kind) => [mintVariant(kind, "new"), mintVariant(kind, "copies")]),
      "post /v1/collections": KINDS.map(createVariant),
      "post /v1/transfers": KINDS.map(({ type }) => transferVariant(type)),
      "post /v1/burns": KINDS.map(({ type }) => burnVariant(type)),
    };
    for (const [call, variants] of Object.entries(all)) {
      const names = fieldsOf(document, call).map(({ name }) => name);
      for (const { omit, require } of variants) {
        expect(names).to.include.members([...omit, ...require]);
        expect(omit).to.not.have.members(require);
      }
    }
  });

  it("leave no required field out, except those that the screen fills in", () => {
    const leftOut = (call: string, { omit }: { omit: readonly string[] }) =>
      fieldsOf(document, call)
        .filter((field) => field.required && omit.includes(field.name))
        .map(({ name }) => name);
    for (const kind of KINDS) {
      expect(leftOut("post /v1/collections", createVariant(kind))).to.deep.equal(["type"]);
      expect(leftOut("post /v1/nfts", mintVariant(kind, "new"))).to.deep.equal(["collection_address"]);
      const known = ["contract_address", "token_id"];
      expect(leftOut("post /v1/transfers", transferVariant(kind.type))).to.deep.equal(known);
      expect(leftOut("post /v1/burns", burnVariant(kind.type))).to.deep.equal(known);
    }
  });

  for (const kind of KINDS) {
    it(`makes a body that the API accepts for a ${kind.hosting} ${kind.type} collection`, () => {
      const fields = fieldsOfVariant(fieldsOf(document, "post /v1/collections"), createVariant(kind));
      const values = { ...initialValues(fields), name: "Cats", symbol: "CAT" };
      const place = kind.type === "ERC721" ? "" : "{id}";
      const base = kind.hosting === "hosted" ? {} : { base_uri: `https://cats.example/${place}` };
      const body = { type: kind.type, ...bodyOf(fields, { ...values, ...base }) };
      expect(createCollectionBody.safeParse(body).error).to.equal(undefined);
    });
  }

  it("mark what the variant requires", () => {
    const fields = fieldsOfVariant(
      fieldsOf(document, "post /v1/nfts"),
      mintVariant({ type: "ERC1155", hosting: "self-hosted" }, "new"),
    );
    expect(fields.map(({ name, required }) => [name, required])).to.deep.equal([
      ["initial_owner", true],
      ["token_id", true],
      ["initial_supply", true],
      ["uri", false],
      ["reference", false],
    ]);
  });
});
