import { expect } from "chai";
import { placeProblems } from "../../../console/forms/model/errors.ts";
import { fieldsOf } from "../../../console/forms/model/fields.ts";
import { documentOfService } from "./document.ts";
const fields = fieldsOf(documentOfService(), "post /v1/nfts");
const inGroup = [{ kind: "group", name: "metadata", label: "Metadata", help: null, required: false, fields }];
function problem(field) {
    return { field, message: "Wrong." };
}
describe("errors of the API in a form", () => {
    const PLACES = [
        [fields, "to_address", "to_address"],
        [fields, "attributes", "attributes"],
        [fields, "attributes.2.value", "attributes.2.value"],
        [fields, "attributes[2].trait_type", "attributes.2.trait_type"],
        [fields, "attributes.2", "attributes.2.value"],
        [fields, "attributes.2.value.deep", "attributes.2.value"],
        [inGroup, "metadata.attributes[2].value", "metadata.attributes.2.value"],
        [inGroup, "metadata.unknown", "metadata"],
    ];
    for (const [form, field, place] of PLACES) {
        it(`shows ${field} at ${place}`, () => {
            const placed = placeProblems(form, [problem(field)]);
            expect([...placed.byField]).to.deep.equal([[place, ["Wrong."]]]);
            expect(placed.first).to.equal(place);
        });
    }
    it("shows what belongs to no field above the form", () => {
        const placed = placeProblems(fields, [problem("body"), problem("from_address")]);
        expect(placed.others).to.deep.equal(["Wrong.", "from_address: Wrong."]);
        expect(placed.first).to.equal(null);
    });
    it("knows the first field in the order of the form, not of the errors", () => {
        const names = ["uri", "attributes.10.value", "attributes.9.value", "token_id"];
        expect(placeProblems(fields, names.map(problem)).first).to.equal("token_id");
        expect(placeProblems(fields, names.slice(1, 3).map(problem)).first).to.equal("attributes.9.value");
    });
});
