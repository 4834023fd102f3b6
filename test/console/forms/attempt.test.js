import { expect } from "chai";
import { attemptFor, certaintyOf } from "../../../console/forms/model/attempt.ts";
import { ERRORS } from "../../../api/domain/error-codes.ts";
describe("a call that writes", () => {
    it("keeps its key while its answer is not known, and gets a new one with another body", () => {
        const first = attemptFor(null, "a");
        expect(first.key).to.match(/^[0-9a-f]{32}$/);
        expect(attemptFor(first, "a")).to.equal(first);
        expect(attemptFor(first, "b").key).to.not.equal(first.key);
        expect(attemptFor(null, "a").key).to.not.equal(first.key);
    });
    const CASES = [
        [200, "taken"],
        [400, "refused"],
        [409, "refused"],
        [422, "refused"],
        [null, "unknown"],
        [401, "unknown"],
        [408, "unknown"],
        [429, "unknown"],
        [500, "unknown"],
        [502, "unknown"],
        [503, "unknown"],
    ];
    for (const [status, certainty] of CASES) {
        it(`is ${certainty} after ${status === null ? "no answer" : status.toString()}`, () => {
            expect(certaintyOf(status)).to.equal(certainty);
        });
    }
    it("is never taken to be refused when the service may have failed in the middle", () => {
        const statuses = Object.values(ERRORS).flatMap(({ status }) => (status === undefined ? [] : [status]));
        for (const status of statuses.filter((one) => one >= 500))
            expect(certaintyOf(status)).to.equal("unknown");
    });
});
