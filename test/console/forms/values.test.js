import { expect } from "chai";
import { bodyOf, changesOf } from "../../../console/forms/model/body.ts";
import { problemsOf } from "../../../console/forms/model/check.ts";
import { fieldsOf } from "../../../console/forms/model/fields.ts";
import { initialValues } from "../../../console/forms/model/values.ts";
import { documentOfService } from "./document.ts";
const document = documentOfService();
const mint = fieldsOf(document, "post /v1/nfts");
const change = fieldsOf(document, "patch /v1/collections/{address}/{token_id}");
const ADDRESS = `0x${"ab".repeat(20)}`;
const HUGE = (2n ** 256n - 1n).toString();
function typed(values) {
    return { ...initialValues(mint), ...values };
}
describe("values of a form", () => {
    it("become a body without the empty fields", () => {
        const body = bodyOf(mint, typed({ collection_address: ` ${ADDRESS} `, name: "Cat", copy_media: true, token_id: "007" }));
        expect(body).to.deep.equal({ collection_address: ADDRESS, name: "Cat", copy_media: true, token_id: 7 });
    });
    it("keep integers above 2^53 exact, as strings", () => {
        expect(bodyOf(mint, typed({ token_id: HUGE }))).to.deep.equal({ token_id: HUGE });
        expect(bodyOf(mint, typed({ token_id: "9007199254740991" }))).to.deep.equal({ token_id: 9007199254740991 });
        expect(bodyOf(mint, typed({ token_id: "9007199254740992" }))).to.deep.equal({ token_id: "9007199254740992" });
    });
    it("take percentages, and send hundredths of them", () => {
        const create = fieldsOf(document, "post /v1/collections").filter(({ kind }) => kind === "percent");
        const sent = (text) => bodyOf(create, { ...initialValues(create), seller_fee_basis_points: text });
        for (const [text, points] of [
            ["5", 500],
            ["2.5", 250],
            ["0,07", 7],
            [" 100 ", 10_000],
            ["0", 0],
        ]) {
            expect(problemsOf(create, { seller_fee_basis_points: text })).to.deep.equal([]);
            expect(sent(text)).to.deep.equal({ seller_fee_basis_points: points });
            const back = initialValues(create, { seller_fee_basis_points: points })["seller_fee_basis_points"];
            expect(sent(back)).to.deep.equal({ seller_fee_basis_points: points });
        }
        expect(sent("")).to.deep.equal({});
        for (const text of ["2.555", "5 %", "-1", ".5", "100.01", "1e1"]) {
            expect(problemsOf(create, { seller_fee_basis_points: text }), text).to.have.length(1);
        }
    });
    it("leave out attributes that are empty", () => {
        const attributes = [
            { trait: "fur", value: "red", before: null },
            { trait: "", value: " ", before: null },
            { trait: "", value: "rare", before: null },
        ];
        expect(bodyOf(mint, typed({ attributes }))).to.deep.equal({
            attributes: [{ trait_type: "fur", value: "red" }, { value: "rare" }],
        });
    });
    describe("given metadata that is changed", () => {
        const before = {
            name: "Cat {token_id}",
            description: "Old",
            attributes: [{ trait_type: "level", value: 5, display_type: "number" }, "odd", { trait_type: "fur", value: "5" }],
        };
        it("sends nothing when nothing changed", () => {
            expect(changesOf(change, initialValues(change, before), before)).to.deep.equal({});
        });
        it("sends only what changed, and null for what was removed", () => {
            const values = { ...initialValues(change, before), name: "Dog", description: "" };
            expect(changesOf(change, values, before)).to.deep.equal({ name: "Dog", description: null });
        });
        it("keeps the types and further fields of attributes", () => {
            const values = initialValues(change, before);
            const [level, odd, fur] = values["attributes"];
            if (level === undefined || odd === undefined || fur === undefined)
                throw new Error("there are three attributes");
            const attributes = [{ ...level, value: "6" }, odd, { ...fur, value: "6" }];
            expect(changesOf(change, { ...values, attributes }, before)).to.deep.equal({
                attributes: [
                    { display_type: "number", trait_type: "level", value: 6 },
                    "odd",
                    { trait_type: "fur", value: "6" },
                ],
            });
        });
    });
    describe("when they are checked", () => {
        const CASES = [
            [{}, "collection_address", "This field is required."],
            [{ collection_address: "0x12" }, "collection_address", "Must be an address: 0x and 40 hex digits."],
            [{ token_id: "1.5" }, "token_id", "Must be a whole number: digits only."],
            [{ token_id: "-1" }, "token_id", "Must be a whole number: digits only."],
            [{ quantity: "0" }, "quantity", "Must be at least 1."],
            [{ image: "cat.png" }, "image", "Must be a full URI with one of the schemes http:, https:, ipfs:, ar:, data:."],
            [
                { image: "javascript:alert(1)" },
                "image",
                "Must be a full URI with one of the schemes http:, https:, ipfs:, ar:, data:.",
            ],
            [{ name: "🐈".repeat(257) }, "name", "Must have at most 256 characters."],
            [{ name: "a\0b" }, "name", "Must be valid Unicode, without NUL characters or lone surrogates."],
            [
                { attributes: [{ trait: "fur", value: "", before: null }] },
                "attributes.0.value",
                "This attribute needs a value.",
            ],
        ];
        for (const [values, field, message] of CASES) {
            it(`finds that ${field} is wrong: ${message}`, () => {
                expect(problemsOf(mint, typed(values))).to.deep.include({ field, message });
            });
        }
        it("accepts what is right", () => {
            const name = "🐈".repeat(256);
            expect(problemsOf(mint, typed({ collection_address: ADDRESS, name, token_id: HUGE, image: "ipfs://cid" }))).to.deep.equal([]);
        });
    });
});
