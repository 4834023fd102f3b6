import { expect } from "chai";
import fc from "fast-check";
import { ether } from "../../console/service/format.ts";
describe("ether", () => {
    for (const [wei, text] of [
        ["0", "0 ETH"],
        ["1", "0.000000001 gwei"],
        ["1500000000", "1.5 gwei"],
        ["56135177793000", "0.00005614 ETH"],
        ["1000000000000000000", "1 ETH"],
        ["1999999999999999999", "2 ETH"],
        ["12345678000000000000000", "12346 ETH"],
    ]) {
        it(`shows ${wei} wei as ${text}`, () => {
            expect(ether(wei)).to.equal(text);
        });
    }
    it("is never wrong by more than 1 in 2,000", () => {
        fc.assert(fc.property(fc.bigInt({ min: 1n, max: 10n ** 27n }), (wei) => {
            const [number = "", unit = ""] = ether(wei.toString()).split(" ");
            const shown = Number(number) * (unit === "ETH" ? 1e18 : 1e9);
            expect(Math.abs(shown - Number(wei)) / Number(wei)).to.be.below(1 / 1_999);
        }));
    });
});
