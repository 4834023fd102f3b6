import { expect } from "chai";
import { fieldsOf } from "../../../console/forms/model/fields.ts";
import { documentOfService } from "./document.ts";
const document = documentOfService();
function fieldNamed(fields, name) {
    const field = fields.find((one) => one.name === name);
    if (field === undefined)
        throw new Error(`no field ${name}`);
    return field;
}
/** The only field of a body with this schema. */
function fieldOf(schema) {
    const body = { type: "object", properties: { it: schema }, required: ["it"] };
    const content = { "application/json": { schema: body } };
    const made = {
        paths: { "/v1/made": { post: { requestBody: { content } } } },
        components: { schemas: { Colour: { type: "string", enum: ["red", "blue"], description: "A colour." } } },
    };
    return fieldsOf(made, "post /v1/made")[0];
}
describe("fields of a form", () => {
    describe("given the service's own document", () => {
        const KINDS = {
            "post /v1/collections": {
                type: "choice",
                name: "text",
                symbol: "text",
                mint_supply_count: "integer",
                new_owner: "address",
                soulbound: "boolean",
                description: "long-text",
                image: "uri",
                seller_fee_basis_points: "percent",
                base_uri: "uri",
            },
            "post /v1/nfts": {
                collection_address: "address",
                to_address: "address",
                token_id: "integer",
                initial_supply: "integer",
                uri: "uri",
                attributes: "attributes",
                copy_media: "boolean",
                unlockable_content: "long-text",
            },
            "post /v1/transfers": { to_address: "address", token_id: "integer", amount: "integer" },
            "patch /v1/collections/{address}": { description: "long-text", fee_recipient: "address" },
        };
        for (const [call, kinds] of Object.entries(KINDS)) {
            it(`finds the kinds of the fields of ${call}`, () => {
                const fields = fieldsOf(document, call);
                const found = Object.fromEntries(Object.keys(kinds).map((name) => [name, fieldNamed(fields, name).kind]));
                expect(found).to.deep.equal(kinds);
            });
        }
        it("takes limits, words and required fields from the schema", () => {
            const fields = fieldsOf(document, "post /v1/collections");
            expect(fieldNamed(fields, "name")).to.include({
                required: true,
                maxLength: 256,
                help: "Name of the collection.",
            });
            expect(fieldNamed(fields, "seller_fee_basis_points")).to.include({
                required: false,
                minimum: 0,
                maximum: 10_000,
                help: "In percent of the price of a sale, such as 5 or 2.5.",
            });
            // The form shows only the fields of the chosen kind.
            expect(fieldNamed(fields, "fee_recipient").help).to.equal("Who gets the royalty.");
            for (const { help } of fields)
                expect(help ?? "").to.not.match(/^(Hosted|Self-hosted) only/);
            expect(fieldNamed(fields, "type")).to.deep.include({ options: ["ERC721", "ERC1155"] });
            expect(fieldNamed(fields, "image")).to.deep.include({ schemes: ["http:", "https:", "ipfs:", "ar:", "data:"] });
            expect(fieldNamed(fields, "base_uri")).to.deep.include({ schemes: ["http:", "https:", "ipfs:", "ar:"] });
        });
    });
    describe("given a made schema", () => {
        const CASES = [
            ["a reference", { $ref: "#/components/schemas/Colour" }, { kind: "choice", help: "A colour." }],
            ["one of constants", { oneOf: [{ const: "a" }, { const: "b" }, { type: "null" }] }, { kind: "choice" }],
            ["a list of choices", { type: "array", items: { enum: ["a", "b"] } }, { kind: "choices" }],
            ["a list of anything", { type: "array", items: {} }, { kind: "json" }],
            ["a decimal fraction", { type: ["number", "null"], minimum: 0.5 }, { kind: "number", minimum: 0.5 }],
            ["a boolean that is true by default", { type: "boolean", default: true }, { kind: "boolean", initial: true }],
            ["anything", {}, { kind: "json" }],
        ];
        for (const [what, schema, expected] of CASES) {
            it(`reads ${what}`, () => {
                expect(fieldOf(schema)).to.deep.include(expected);
            });
        }
        it("reads nested objects", () => {
            const field = fieldOf({
                type: "object",
                properties: { name: { type: "string", maxLength: 5 } },
                required: ["name"],
            });
            expect(field).to.have.nested.property("fields[0].required", true);
        });
        it("says which reference is missing", () => {
            expect(() => fieldOf({ $ref: "#/components/schemas/Gone" })).to.throw('no schema "#/components/schemas/Gone"');
        });
    });
});
